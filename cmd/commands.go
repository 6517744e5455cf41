package cmd

import (
	"github.com/spf13/cobra"

	"prescient/cmd/advise"
	"prescient/cmd/checks"
	"prescient/cmd/demo"
	"prescient/cmd/dev"
	"prescient/cmd/event"
	"prescient/cmd/internal/program"
	"prescient/cmd/job"
	"prescient/cmd/operate"
	"prescient/cmd/rule"
	"prescient/cmd/schedule"
	"prescient/cmd/serve"
	"prescient/cmd/spool"
	"prescient/cmd/units"
	"prescient/cmd/web"
)

// The groups of commands in the help.
const (
	groupServe  = "serve"
	groupChecks = "checks"
	groupTimes  = "schedules"
	groupSteps  = "steps"
	groupRules  = "rules"
	groupEvents = "events"
	groupWeb    = "web"
	groupSetup  = "setup"
)

// addCommands makes the tree of commands.
func addCommands(root *cobra.Command, prog *program.Program, version string) {
	add := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, command := range commands {
			command.GroupID = id
			root.AddCommand(command)
		}
	}
	add(groupServe, "Running what is due:",
		serve.Run(prog), serve.Work(prog), serve.Sweep(prog), serve.RollForward(prog), serve.Pause(prog), serve.Resume(prog), serve.Notify(prog), operate.Agents(prog), operate.Status(prog))
	add(groupChecks, "Checks:",
		checks.Insert(prog), checks.Cancel(prog), checks.Reschedule(prog), checks.Requeue(prog), checks.Bulk(prog), checks.Get(prog), checks.Pending(prog), checks.Jobs(prog), checks.History(prog),
		checks.Slots(prog), spool.Command(prog))
	add(groupTimes, "Schedules:",
		schedule.Command(prog))
	add(groupRules, "Rules:",
		rule.Command(prog))
	add(groupSteps, "Jobs of steps:",
		job.Command(prog), job.Runs(prog))
	add(groupEvents, "Events:",
		event.Command(prog), serve.Forward(prog))
	overHTTP := []*cobra.Command{web.Token(prog), web.User(prog)}
	if prog.Serve != nil {
		overHTTP = append([]*cobra.Command{web.Serve(prog)}, overHTTP...)
	}
	add(groupWeb, "Over HTTP:", overHTTP...)
	vschema := units.VSchema(prog)
	vschema.AddCommand(units.Prepare(prog))
	add(groupSetup, "Setting up:",
		operate.Migrate(prog), operate.Reslot(prog), operate.Prune(prog), operate.Doctor(prog), operate.Blocking(prog), operate.Stats(prog), advise.Command(prog), operate.Forecast(prog), operate.Audit(prog), operate.Attest(prog), operate.Grants(prog), units.Command(prog), units.Monitoring(prog), vschema,
		checkEndpointCommand(prog), configCommand(prog), demo.Command(prog), dev.Command(prog), versionCommand(prog, version))
	root.SetHelpCommandGroupID(groupSetup)
	root.SetCompletionCommandGroupID(groupSetup)
}
