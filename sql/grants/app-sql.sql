-- An app in any language: INSERT of the names, the time and the payload, from which the table makes the rest, and CALL of
-- the procedure that cancels. It can change and delete nothing by itself, and writes no history.
GRANT SELECT, INSERT (entity_name, entity_key, job_exec, tag, due_at, payload) ON {database}.{future_job} TO {account};
GRANT EXECUTE ON PROCEDURE {database}.{cancel} TO {account};
