-- Who was given what, for the audit.
INSERT INTO {database}.{audit_log} (at, account, stream, seq, kind, id, verb, command, after_change) SELECT UTC_TIMESTAMP(6), USER(), {stream}, COALESCE(MAX(seq), 0) + 1, 'installation', 'prescient', 'grant', 'grants', '{given}' FROM {database}.{audit_log} WHERE stream = {stream};
