SET v_key = CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT(CAST(p_entity_name AS BINARY), UNHEX('00'), CAST(p_entity_key AS BINARY)), 256)), 1, 12),
                   SUBSTRING(UNHEX(SHA2(CONCAT(CAST(p_job_exec AS BINARY), UNHEX('00'), CAST(p_tag AS BINARY)), 256)), 1, 4));
