"""Credentials and personal data in text: rules that find them, however they are written."""
