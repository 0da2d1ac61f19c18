"""The Record: one variant's whole result on disk, and the waist of the system.

A record is a folder::

    record.json     RecordHeader: what ran, on what, with which proof; rewritten whole, by atomic rename
    cases.jsonl     CaseInfo: what the reports and slices need to know of each case
    outcomes.jsonl  Outcome with its grades, appended batch by batch as they come; rewritten where a judge graded
    scored.jsonl    one ScoredAnswer per line: the baseline's answer, scored by this variant; where fidelity is measured
    judgements.jsonl  what the judge was asked and replied, where there is one (see `qeval.runner.judgements`)
    states/         the final hidden states that fidelity is computed from
    log.txt         what the libraries printed (not part of the result)

Every line and the header carry the schema that they were written by and a check, and the header of a complete record
holds the digest of every file. Everything left of the record needs a model and writes only this; everything right of
it reads only this.
"""

from qeval.evidence import ComparabilityLevel as ComparabilityLevel
from qeval.evidence import Environment as Environment
from qeval.evidence import JudgeInfo as JudgeInfo
from qeval.evidence import ModelInfo as ModelInfo
from qeval.evidence import Proof as Proof
from qeval.evidence import Rendering as Rendering
from qeval.record.files import CASES_FILE as CASES_FILE
from qeval.record.files import JUDGEMENTS_FILE as JUDGEMENTS_FILE
from qeval.record.files import LINE_FILES as LINE_FILES
from qeval.record.files import OUTCOMES_FILE as OUTCOMES_FILE
from qeval.record.files import RECORD_FILE as RECORD_FILE
from qeval.record.files import SCORED_FILE as SCORED_FILE
from qeval.record.files import STATES_FOLDER as STATES_FOLDER
from qeval.record.files import OnDamage as OnDamage
from qeval.record.files import Record as Record
from qeval.record.files import add_lines as add_lines
from qeval.record.files import changed_files as changed_files
from qeval.record.files import folder_name as folder_name
from qeval.record.files import load_header as load_header
from qeval.record.files import load_outcomes as load_outcomes
from qeval.record.files import load_record as load_record
from qeval.record.files import load_scored as load_scored
from qeval.record.files import read_file as read_file
from qeval.record.files import save_header as save_header
from qeval.record.files import save_lines as save_lines
from qeval.record.files import save_record as save_record
from qeval.record.files import schema_of as schema_of
from qeval.record.files import seal as seal
from qeval.record.header import CaseInfo as CaseInfo
from qeval.record.header import DecodeChoice as DecodeChoice
from qeval.record.header import FidelityInfo as FidelityInfo
from qeval.record.header import JudgeCost as JudgeCost
from qeval.record.header import Measurements as Measurements
from qeval.record.header import PilotTimes as PilotTimes
from qeval.record.header import Reason as Reason
from qeval.record.header import RecordHeader as RecordHeader
from qeval.record.header import Replay as Replay
from qeval.record.header import ReplayPilot as ReplayPilot
from qeval.record.header import State as State
from qeval.record.header import Stopping as Stopping
from qeval.record.header import SuiteInfo as SuiteInfo
from qeval.record.lines import SCHEMA_VERSION as SCHEMA_VERSION
from qeval.record.lines import DamagedRecord as DamagedRecord
