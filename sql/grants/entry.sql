-- Who was given what, for the audit.
INSERT INTO {database}.{audit_log} (stream, seq, kind, id, verb, command, after_change) SELECT {stream}, COALESCE(MAX(seq), 0) + 1, 'installation', 'prescient', 'grant', 'grants', '{given}' FROM {database}.{audit_log} WHERE stream = {stream};
