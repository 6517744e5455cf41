-- Which jobs have which shared steps: a step that a job has is not deleted. Written with the definition of the job.
-- In the dialect plain without CHECKs.
CREATE TABLE IF NOT EXISTS {prefix}job_step (
  step VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'a shared one',
  job  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'that has it',
  PRIMARY KEY (step, job)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'prescient: which jobs have which shared steps';
