package config

import (
	"regexp"
	"slices"
	"strings"

	"prescient/config/value"
)

const envPrefix = "PRESCIENT_"

// envConfig names the file.
const envConfig = envPrefix + "CONFIG"

// envName returns the environment variable of a key: PRESCIENT_WORKER_LEASE for worker.lease.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// otherVariables are read elsewhere in the project.
func otherVariables() []string {
	return []string{envConfig, envPrefix + "CACHE", envPrefix + "SERVER_DIR"}
}

// testVariables are what tests are told, of this project and of programs that are built on it.
const testVariables = envPrefix + "TEST_"

// serviceVariables are what Kubernetes sets in every container next to a service whose name begins with prescient.
var serviceVariables = regexp.MustCompile(
	`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)

// checkVariables are what a command of jobs.command has of its row: it may call this program.
const checkVariables = envPrefix + "CHECK_"

// refuseUnknownVariables finds the misspelt ones in an environment of name=value. referred are those that the file refers
// to.
func refuseUnknownVariables(environ, referred []string, p *problems) {
	known := append(otherVariables(), referred...)
	var names []string
	for _, f := range fields(new(Config)) {
		known = append(known, envName(f.name))
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(known, name) && !serviceVariables.MatchString(name) &&
			!strings.HasPrefix(name, checkVariables) && !strings.HasPrefix(name, testVariables) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if list, is := listOf(name); is {
			p.addf(value.Plain(name), "environment", "%s is a list, which only the file can have", list)
			continue
		}
		p.addf(value.Plain(name), "environment", "unknown variable%s", value.Suggestion(name, known))
	}
}

// listOf is the list that a variable would be for.
func listOf(name string) (list string, is bool) {
	for _, list := range []string{keyHTTP, keyCommand, keySQL} {
		if strings.HasPrefix(name, envName(list)) {
			return list, true
		}
	}
	return "", false
}
