DECLARE EXIT HANDLER FOR SQLEXCEPTION
BEGIN
  GET DIAGNOSTICS CONDITION 1 v_error = MYSQL_ERRNO;
  BEGIN
    -- After a deadlock there is no savepoint left.
    DECLARE CONTINUE HANDLER FOR 1305 BEGIN END;
    IF v_own THEN
      ROLLBACK;
    ELSE
      ROLLBACK TO SAVEPOINT prescient_cancel; -- only cancel
      ROLLBACK TO SAVEPOINT prescient_delete; -- only delete_schedules
      ROLLBACK TO SAVEPOINT prescient_happened; -- only happened
    END IF;
  END;
  -- A transaction of its own is tried again; one of the caller is the caller's to repeat.
  IF NOT v_own OR v_error <> 1213 OR v_tries >= 10 THEN
    RESIGNAL;
  END IF;
END;
IF v_own THEN
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION;
ELSE
  SAVEPOINT prescient_cancel; -- only cancel
  SAVEPOINT prescient_delete; -- only delete_schedules
  SAVEPOINT prescient_happened; -- only happened
END IF;
