GRANT EXECUTE ON PROCEDURE {database}.{cancel} TO {account};
GRANT EXECUTE ON PROCEDURE {database}.{pending} TO {account};
GRANT EXECUTE ON PROCEDURE {database}.{delete_schedules} TO {account};
