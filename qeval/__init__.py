"""qeval: may this model ship at this precision, on the hardware that will serve it?

Importing this package loads neither torch nor transformers, mlflow or pandas; the parts that need
them import them when they are used.
"""

__version__ = "0.1.0"
