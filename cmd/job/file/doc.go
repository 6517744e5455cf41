// Package file is how jobs and shared steps stand in files: YAML, a list of them, or one a document. It reads and writes them, and says
// what tells one definition from another. It knows no database.
//
//	# jobs.yaml
//	- step: export
//	  exec: export-orders
//	  arguments: {table: orders}
//	  timeout: 10m
//	- job: nightly
//	  crontab: 0 3 * * *
//	  zone: Europe/Berlin
//	  steps:
//	    - export
//	    - name: report
//	      exec: send-report
//	      retries: 3
//	      on_failure: continue
//
// A step of a job that is a text is the shared step of this name. Other names, and values of another kind, are refused,
// and so is a number that YAML reads as another one than is shown: 010, 0x3, 1_0.
package file
