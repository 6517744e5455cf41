package units

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/prescient/monitoring"
)

// Monitoring returns the command monitoring.
func Monitoring(prog *program.Program) *cobra.Command {
	o := monitoring.Options{Program: prog.Name}
	var dir string
	var labels []string
	cmd := &cobra.Command{
		Use:   "monitoring",
		Short: "Print alerts for Prometheus, and a dashboard for Grafana",
		Long: `Prints rules of Prometheus, whose alerts say what to do, and a dashboard of Grafana; with --dir they are written as files. It connects
to nothing: the bounds of the alerts are those of doctor, for the slots, sweeps and doctor.… of the configuration.

Scrape each work (--listen, at /metrics), and serve (at /api/v1/metrics, with a token of the role viewer as its bearer). Serve tells of
installations of timers, too. It alone tells what is paused, which slots nobody served, and how many checks are overdue.

Where Prometheus has several installations, --label job=shop has rules and panels look at the series with this label alone, and
alerts have it; --name keeps the files and the dashboard of each apart: those of its name in --dir are written anew.`,
		Example: fmt.Sprintf(`  %[1]s monitoring --label job=shop --name shop --dir /etc/prometheus/rules`, prog.Name),
		Args:    arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Labels, err = labelsOf(labels); err != nil {
				return exit.Usage(fmt.Errorf("--label: %w", err))
			}
			c, err := prog.Load(cmd)
			if err != nil {
				return err
			}
			o.Doctor = program.DoctorOptions(c)
			files, err := monitoring.Files(o)
			if err != nil {
				return err
			}
			list := make([]unitFile, len(files))
			for i, file := range files {
				list[i] = unitFile(file)
			}
			return writeFiles(cmd, prog, dir, list)
		},
	}
	arguments.Text(cmd.Flags(), &o.Name, "name", monitoring.ValidName, "what the files, the rules and the dashboard are called (default prescient)")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "a label that the series of this installation have, as job=shop; may be given several times")
	cmd.Flags().StringVar(&dir, "dir", "", "write the files to this folder")
	return cmd
}

// labelsOf reads labels as name=value.
func labelsOf(given []string) (map[string]string, error) {
	labels := make(map[string]string)
	for _, one := range given {
		name, value, is := strings.Cut(one, "=")
		if !is {
			return nil, fmt.Errorf("%.80q: want name=value, such as job=shop", one)
		}
		if err := monitoring.ValidLabel(name, value); err != nil {
			return nil, err
		}
		if _, twice := labels[name]; twice {
			return nil, errors.New(name + " is given twice; once is allowed")
		}
		labels[name] = value
	}
	return labels, nil
}
