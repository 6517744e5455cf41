package advise

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/words"
	"prescient/prescient/advice"
	"prescient/prescient/advice/estimate"
)

// list shows what there is by job_exec and kind of entity.
func list(to *output.Printer, r advice.Report) {
	var cells [][]string
	for _, g := range r.Groups {
		line := []string{words.Clean(g.JobExec), words.Clean(g.Entity), output.Count(g.Checks), output.Count(g.Found), output.Count(g.Reported), output.Count(g.AtGuard), output.Count(g.Near)}
		if g.None != "" {
			line = append(line, "", "", "", "", "", g.None)
		} else {
			line = append(line, share(g.Advice, 0.5), cost(g.Now.Calls), advice.Age(g.Now.LateSeconds), cost(g.Advised.Calls), advice.Age(g.Advised.LateSeconds), note(g.Advice))
		}
		cells = append(cells, line)
	}
	right := func(title string) output.Column { return output.Column{Title: title, Right: true} }
	defer func() {
		if r.Further > 0 {
			to.Say("%s more, of fewer checks each: give --exec or --kind.", words.Counted(r.Further, "group", "groups"))
		}
	}()
	to.Table(span(r), []output.Column{{Title: "job_exec"}, {Title: "kind"}, right("checks"), right("found"), right("reported"), right("at guard"), right("near"), right("half by"),
		right("calls now"), right("late"), right("advised"), right("late"), {Title: "note", Long: true}}, cells)
}

// note says what is to be known of an advice.
func note(a estimate.Advice) string { return strings.Join(advice.Notes(a), "; ") }

// show shows the advice on one.
func show(to *output.Printer, r advice.Report, g advice.Group) {
	to.Say("%s, %s: %s", words.Clean(g.JobExec), words.Clean(g.Entity), span(r))
	if g.None != "" {
		to.Say("No advice: %s.", g.None)
		return
	}
	fields := [][2]string{
		{"checks", fmt.Sprintf("%d: %d found, %d reported, %d open", g.Checks, g.Found, g.Reported, g.Checks-g.Found-g.Reported)},
		{"happened", fmt.Sprintf("a quarter by %s, half by %s, 95 %% by %s, 99 %% by %s", share(g.Advice, 0.25), share(g.Advice, 0.5), share(g.Advice, 0.95), share(g.Advice, 0.99))},
		{"max_checks", fmt.Sprintf("%d of %d ended by it, %d were near to it", g.AtGuard, g.Ended, g.Near)},
		{"between", fmt.Sprintf("two checks that were %s apart, on average", advice.Age(g.Apart))},
		{"now", fmt.Sprintf("%s calls, %s late", cost(g.Now.Calls), advice.Age(g.Now.LateSeconds))},
		{"advised", fmt.Sprintf("%s calls, %s late", cost(g.Advised.Calls), advice.Age(g.Advised.LateSeconds))},
		{"note", note(g.Advice)},
	}
	if fields[len(fields)-1][1] == "" {
		fields = fields[:len(fields)-1]
	}
	to.Fields(12, fields)
	heading := "\nages of the checks, half a slot behind what is asked for"
	if g.Example != nil {
		heading += fmt.Sprintf(", of one that is inserted at %s (UTC)", g.Example.Format("15:04"))
	}
	var cells [][]string
	for i, age := range g.Ages {
		by, _ := g.Happened(time.Duration(age) * time.Second)
		cells = append(cells, []string{strconv.Itoa(i + 1), advice.Age(float64(age)), advice.Age(float64(g.NextIn[i])), fmt.Sprintf("%.1f %%", 100*by)})
	}
	to.Table(heading, []output.Column{{Title: "check", Right: true}, {Title: "at", Right: true}, {Title: "next_in", Right: true}, {Title: "happened by then", Right: true}}, cells)
	to.Text("\n" + paste(g))
}

// share is the age by which so much of all has happened; by the day, of a check that is inserted at the example.
func share(a estimate.Advice, want float64) string {
	age, never, atMost := a.When(want)
	switch {
	case never:
		return "never"
	case atMost:
		return "at most " + advice.Age(age.Seconds())
	}
	return advice.Age(age.Seconds())
}

// paste is what goes into a program or a configuration.
func paste(g advice.Group) string {
	return fmt.Sprintf(`In Go, where %s is inserted, and in its job_exec; read the curve once, as your program starts:

%s
In the configuration, where it is asked for over HTTP or by a command; what answers says {"next_in": …} by the table above:

%s`, g.JobExec, indented("\t", g.Code()), indented("  ", g.Configuration()))
}

// indented has each line of a text begin with something.
func indented(by, text string) string {
	return by + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n"+by), by)
}

func cost(calls float64) string { return strconv.FormatFloat(calls, 'f', 2, 64) }
