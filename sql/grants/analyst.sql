-- An analyst: reads history and the views on it, also by the command history, which looks at the resolution first.
GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT ON {database}.{job_history} TO {account};
GRANT SELECT ON {database}.{history_outcomes} TO {account};
GRANT SELECT ON {database}.{history_times} TO {account};
GRANT SELECT ON {database}.{history_checks} TO {account};
GRANT SELECT ON {database}.{history_not_yet} TO {account};
GRANT SELECT ON {database}.{history_lateness} TO {account};
GRANT SELECT ON {database}.{history_checks_daily} TO {account};
GRANT SELECT ON {database}.{schedule} TO {account};
GRANT SELECT ON {database}.{schedule_run} TO {account};
GRANT SELECT ON {database}.{schedule_refused} TO {account};
GRANT SELECT ON {database}.{event_outbox} TO {account};
GRANT SELECT ON {database}.{event_topic} TO {account};
GRANT SELECT ON {database}.{event_set_aside} TO {account};
GRANT SELECT ON {database}.{event_count} TO {account};
GRANT SELECT ON {database}.{event_published} TO {account};
GRANT SELECT ON {database}.{audit_log} TO {account};
