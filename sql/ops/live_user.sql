-- Somebody who signs in to the page.
-- Index: PRIMARY of web_user, until one is found who is not disabled. Locks: none.
SELECT name FROM {prefix}web_user WHERE name > '' AND disabled_at IS NULL ORDER BY name LIMIT 1
