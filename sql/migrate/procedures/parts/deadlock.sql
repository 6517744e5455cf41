DECLARE EXIT HANDLER FOR 1213
BEGIN
  -- A transaction of the caller is gone with it, and the caller's to repeat.
  IF NOT v_own OR v_looks >= 10 THEN
    RESIGNAL;
  END IF;
  SET v_missed = TRUE;
END;
