-- Who was given what, for the audit.
INSERT INTO {database}.{audit_log} (stream, kind, id, verb, command, after_change) VALUES ({stream}, 'installation', 'prescient', 'grant', 'grants', '{given}');
