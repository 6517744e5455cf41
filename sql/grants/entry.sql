-- Who was given what, for the audit.
INSERT INTO {database}.{audit_log} (stream, kind, id, verb, command, after_change) VALUES ({stream}, 'installation', 'prescient', 'grant', 'grants', '{given}'); -- only full
INSERT INTO {database}.{audit_log} (at, account, entry, stream, kind, id, verb, command, after_change) VALUES (UTC_TIMESTAMP(6), USER(), RANDOM_BYTES(8), {stream}, 'installation', 'prescient', 'grant', 'grants', '{given}'); -- only plain
