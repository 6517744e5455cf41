package rig

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// use is how the tests use a command.
type use struct {
	args []string // behind the name, so that the command gets to its work
	Role string   // that the account needs
	Asks string   // of what the command needs: a database, or its tables too; empty for neither
}

// Uses has every command that does something itself, by its words.
var Uses = map[string]use{
	"run":            {Role: "worker", Asks: "tables"},
	"work":           {Role: "worker", Asks: "tables"},
	"sweep":          {Role: "worker", Asks: "tables"},
	"roll-forward":   {Role: "worker", Asks: "tables"},
	"pause":          {args: []string{"x"}, Role: "operator", Asks: "tables"},
	"resume":         {args: []string{"x"}, Role: "operator", Asks: "tables"},
	"agents":         {Role: "operator", Asks: "tables"},
	"agents drain":   {args: []string{"x"}, Role: "operator", Asks: "tables"},
	"agents undrain": {args: []string{"x"}, Role: "operator", Asks: "tables"},
	"status":         {Role: "operator", Asks: "tables"},

	"insert":       {args: []string{"--entity", "a/b", "--exec", "x", "--in", "1h"}, Role: "app-reschedule", Asks: "tables"},
	"cancel":       {args: []string{"--entity", "a/b"}, Role: "app", Asks: "tables"},
	"reschedule":   {args: []string{"--entity", "a/b", "--exec", "x", "--in", "2h"}, Role: "app-reschedule", Asks: "tables"},
	"requeue":      {args: []string{"--exec", "x", "--outcome", "failed", "--from", "now-2h", "--dry-run"}, Role: "oncall", Asks: "tables"},
	"bulk":         {},
	"bulk list":    {Role: "operator", Asks: "tables"},
	"bulk stop":    {args: []string{"1"}, Role: "oncall", Asks: "tables"},
	"bulk work":    {Role: "oncall", Asks: "tables"},
	"get":          {args: []string{"--entity", "a/b", "--exec", "x"}, Role: "app", Asks: "tables"},
	"pending":      {Role: "app", Asks: "tables"},
	"jobs":         {Role: "app", Asks: "tables"}, // as pending was called before
	"history":      {Role: "analyst", Asks: "tables"},
	"slots":        {Role: "app", Asks: "tables"},
	"slots ceil":   {args: []string{"13:05"}},
	"slots served": {},
	"slots cover":  {args: []string{"--minutes", "0,30"}},
	"spool":        {args: []string{"/nowhere/spool"}},
	"spool put":    {args: []string{"/nowhere/spool", "--in", "1h", "--", "true"}},

	"rule":        {},
	"rule list":   {Role: "operator", Asks: "tables"},
	"rule show":   {args: []string{"a"}, Role: "operator", Asks: "tables"},
	"rule try":    {args: []string{"a", "--occasion", "b", "--exec", "x"}, Role: "operator", Asks: "tables"},
	"rule set":    {args: []string{"a", "--occasion", "b", "--exec", "x"}, Role: "app-reschedule", Asks: "tables"},
	"rule pause":  {args: []string{"a"}, Role: "app-reschedule", Asks: "tables"},
	"rule resume": {args: []string{"a"}, Role: "app-reschedule", Asks: "tables"},
	"rule delete": {args: []string{"a"}, Role: "app-reschedule", Asks: "tables"},
	"rule move":   {args: []string{"a"}, Role: "app-reschedule", Asks: "tables"},
	"rule export": {Role: "operator", Asks: "tables"},
	"rule import": {args: []string{inTestdata("rules.yaml")}, Role: "app-reschedule", Asks: "tables"},
	"rule report": {args: []string{"b", "--entity", "a/b"}, Role: "app", Asks: "tables"},

	"schedule":          {},
	"schedule create":   {args: []string{"a", "@daily", "--exec", "x"}, Role: "app", Asks: "tables"},
	"schedule update":   {args: []string{"a", "@hourly"}, Role: "app", Asks: "tables"},
	"schedule delete":   {args: []string{"a"}, Role: "app", Asks: "tables"},
	"schedule list":     {Role: "app", Asks: "tables"},
	"schedule show":     {args: []string{"a"}, Role: "operator", Asks: "tables"},
	"schedule pause":    {args: []string{"a"}, Role: "app", Asks: "tables"},
	"schedule resume":   {args: []string{"a"}, Role: "app", Asks: "tables"},
	"schedule run":      {args: []string{"a"}, Role: "app", Asks: "tables"},
	"schedule import":   {args: []string{"-"}, Role: "app", Asks: "tables"},
	"schedule export":   {Role: "app", Asks: "tables"},
	"schedule back":     {args: []string{"a", "1"}, Role: "app", Asks: "tables"},
	"schedule versions": {args: []string{"a"}, Role: "app", Asks: "tables"},
	"schedule next":     {args: []string{"30 2 * * *"}},

	"job":          {},
	"job create":   {args: []string{inTestdata("jobs.yaml")}, Role: "app", Asks: "tables"},
	"job edit":     {args: []string{"a", "--file", "-", "--yes"}, Role: "app", Asks: "tables"},
	"job versions": {args: []string{"a"}, Role: "app", Asks: "tables"},
	"job back":     {args: []string{"a", "1"}, Role: "app", Asks: "tables"},
	"job show":     {args: []string{"a"}, Role: "app", Asks: "tables"},
	"job list":     {Role: "app", Asks: "tables"},
	"job pause":    {args: []string{"a"}, Role: "app", Asks: "tables"},
	"job resume":   {args: []string{"a"}, Role: "app", Asks: "tables"},
	"job run":      {args: []string{"a"}, Role: "app", Asks: "tables"},
	"job delete":   {args: []string{"a"}, Role: "app", Asks: "tables"},
	"job import":   {args: []string{inTestdata("jobs.yaml")}, Role: "app", Asks: "tables"},
	"job export":   {Role: "app", Asks: "tables"},
	"runs":         {Role: "operator", Asks: "tables"},

	"event":           {},
	"event status":    {Role: "operator", Asks: "tables"},
	"event set-aside": {Role: "operator", Asks: "tables"},
	"event resend":    {args: []string{"1"}, Role: "operator", Asks: "tables"},
	"event drop":      {args: []string{"1"}, Role: "operator", Asks: "tables"},
	"forward":         {}, // without routes it asks nobody

	"token":        {},
	"token create": {args: []string{"ci", "--role", "viewer"}, Role: "serve-admin", Asks: "tables"},
	"token list":   {Role: "serve-admin", Asks: "tables"},
	"token rotate": {args: []string{"1"}, Role: "serve-admin", Asks: "tables"},
	"token revoke": {args: []string{"1"}, Role: "serve-admin", Asks: "tables"},

	"user":              {},
	"user add":          {args: []string{"ada"}, Role: "serve-admin", Asks: "tables"},
	"user list":         {Role: "serve-admin", Asks: "tables"},
	"user disable":      {args: []string{"ada"}, Role: "serve-admin", Asks: "tables"},
	"user enable":       {args: []string{"ada"}, Role: "serve-admin", Asks: "tables"},
	"user role":         {args: []string{"ada", "viewer"}, Role: "serve-admin", Asks: "tables"},
	"user password":     {args: []string{"ada"}, Role: "serve-admin", Asks: "tables"},
	"user sessions":     {Role: "serve-admin", Asks: "tables"},
	"user sessions end": {args: []string{"ada"}, Role: "serve-admin", Asks: "tables"},

	"migrate":           {Role: "owner", Asks: "database"},
	"migrate up":        {Role: "owner", Asks: "database"},
	"migrate down":      {Role: "owner"}, // without --yes it asks nobody
	"migrate status":    {Role: "owner", Asks: "database"},
	"reslot":            {args: []string{"--resolution", "1s"}, Role: "owner", Asks: "database"},
	"prune":             {args: []string{"--keep", "90d"}, Role: "owner", Asks: "tables"},
	"doctor":            {Role: "worker", Asks: "database"},
	"notify":            {}, // without receivers it asks nobody
	"stats":             {Role: "analyst", Asks: "tables"},
	"stats percentiles": {Role: "analyst", Asks: "tables"},
	"stats verify":      {Role: "analyst", Asks: "tables"},
	"stats rebuild":     {args: []string{"--from", "now-2d"}, Role: "worker", Asks: "tables"},
	"advise":            {Role: "operator", Asks: "tables"},
	"audit":             {Role: "analyst", Asks: "tables"},
	"attest":            {Role: "operator", Asks: "tables"},
	"blocking":          {Role: "operator", Asks: "database"},
	"grants":            {args: []string{"--role", "app", "--user", "u"}},
	"units":             {},
	"units cron":        {},
	"units systemd":     {},
	"monitoring":        {},
	"vschema":           {},
	"vschema prepare":   {Role: "owner", Asks: "database"},
	"check-endpoint":    {args: []string{"http://127.0.0.1:1/"}},
	"config":            {},
	"config example":    {},
	"demo":              {args: []string{"--for", "1s"}},
	"dev":               {args: []string{"--resolution", "7s"}}, // refused: it would stay
	"version":           {},
	"forecast":          {Role: "analyst", Asks: "tables"},
}

// inTestdata is a file of this package, also for tests that are built without the paths of their sources.
func inTestdata(name string) string {
	top, _ := os.Getwd() // tests begin in the folders of their packages
	for next := filepath.Dir(top); next != top; top, next = next, filepath.Dir(next) {
		if _, err := os.Stat(filepath.Join(top, "go.mod")); err == nil {
			break
		}
	}
	return filepath.Join(top, "cmd", "internal", "rig", "testdata", name)
}

// LineOf is the command line of a use.
func LineOf(name string) []string { return append(strings.Fields(name), Uses[name].args...) }

// LinesThatAsk are the lines of the commands that need one of these.
func LinesThatAsk(what ...string) (list [][]string) {
	for _, name := range slices.Sorted(maps.Keys(Uses)) {
		if slices.Contains(what, Uses[name].Asks) {
			list = append(list, LineOf(name))
		}
	}
	return list
}
