"""The rules of the verbs: functions of a transaction, which add entries or raise."""
