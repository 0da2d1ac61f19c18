from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qeval.errors import UsageError
from qeval.variants.base import all_formats
from qeval.variants.spec import OPTIONS, Variant, parse_variant, parse_variants

QUANTIZED = sorted(name for name, fmt in all_formats().items() if fmt.quantized)
VALUES = st.text("abcXYZ019.:/*_-[]?", min_size=1, max_size=12)
VARIANTS = st.builds(
    lambda name, compute, keep: Variant(
        format=name,
        options=(*(("compute", value) for value in compute), *(("keep", value) for value in keep)),
    ),
    st.sampled_from(QUANTIZED),
    st.lists(st.sampled_from(OPTIONS["compute"].values), max_size=1),
    st.lists(VALUES, max_size=4, unique=True),
)


@given(VARIANTS)
def test_a_variant_survives_its_own_text(variant):
    assert parse_variant(variant.text) == variant


@given(st.lists(VARIANTS, min_size=1, max_size=4, unique_by=lambda variant: variant.text))
def test_a_list_survives_its_own_text(variants):
    assert parse_variants(",".join(variant.text for variant in variants)) == variants


@given(st.text(max_size=40))
def test_any_text_is_a_variant_or_a_usage_error(text):
    with contextlib.suppress(UsageError):
        assert parse_variant(parse_variant(text).text).text == parse_variant(text).text


def test_options_are_ordered_by_key_and_repeated_keys_keep_their_order():
    variant = parse_variant(" nf4 + keep=z + compute = bf16 +keep=a ")
    assert variant.text == "nf4+compute=bf16+keep=z+keep=a"
    assert variant.values("keep") == ("z", "a")
    assert variant.values("compute") == ("bf16",)


@pytest.mark.parametrize(
    ("written", "canonical"), [("0", "0"), ("0.0", "0"), ("-0", "0"), ("6.00", "6"), ("1e3", "1000"), (".25", "0.25")]
)
def test_a_number_has_one_canonical_text(written, canonical):
    assert parse_variant(f"int8+threshold={written}").text == f"int8+threshold={canonical}"


@given(st.floats(0, 1000))
def test_a_number_survives_its_own_text(number):
    variant = parse_variant(f"int8+threshold={number!r}")
    assert float(variant.values("threshold")[0]) == number
    assert parse_variant(variant.text) == variant


def test_values_may_hold_colons_slashes_and_equal_signs():
    assert parse_variant("nf4+keep=a:b/c=d").values("keep") == ("a:b/c=d",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must begin with a format"),
        ("+keep=a", "must begin with a format"),
        ("n4f", "Did you mean 'nf4'?"),
        ("int4", "Allowed: bf16"),
        ("nf4+kep=a", "Did you mean 'keep'?"),
        ("nf4+zzz=1", "Allowed: compute, keep"),
        ("nf4+keep", "write +key=value"),
        ("nf4+keep=", "write +key=value"),
        ("nf4+=a", "write +key=value"),
        ("nf4+", "write +key=value"),
        ("nf4+keep=a b", "may hold no space"),
        ("nf4+keep=a+keep=a", "given twice"),
        ("nf4+compute=bf16+compute=fp32", "may be given once"),
        ("nf4+compute=bfloat16", "Did you mean 'bf16'?"),
        ("fp32+keep=lm_head", "fp32 quantises nothing"),
        ("nf4+threshold=0", "threshold= is for int8, not for nf4"),
        ("fp32+threshold=0", "fp32 quantises nothing"),
        ("int8+threshold=none", "threshold=none must be a number from 0 to 1000"),
        ("int8+threshold=-1", "must be a number from 0 to 1000"),
        ("int8+threshold=nan", "must be a number from 0 to 1000"),
        ("int8+threshold=inf", "must be a number from 0 to 1000"),
        ("int8+threshold=0+threshold=0.0", "given twice"),
        ("fp32,nf4", "name one here"),
    ],
)
def test_a_faulty_variant_says_what_is_wrong(text, said):
    with pytest.raises(UsageError) as raised:
        parse_variant(text)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [("fp32,,nf4", "must begin with a format"), ("fp32,", "must begin"), ("nf4, nf4", "stands there twice")],
)
def test_a_faulty_list_says_what_is_wrong(text, said):
    with pytest.raises(UsageError) as raised:
        parse_variants(text)
    assert said in str(raised.value)
