-- End somebody's sessions on the page.
-- Index: person of web_session, as many entries as the person has sessions. Locks: these rows.
-- 1: whose
DELETE FROM {prefix}web_session WHERE person = ?
