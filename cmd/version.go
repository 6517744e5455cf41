package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

// versionReport is what version prints.
type versionReport struct {
	Program  string `json:"program"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func versionCommand(prog *program.Program, version string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionOf(prog.Name, version)
			revision := ""
			if v.Revision != "" {
				revision = ", revision " + v.Revision
			}
			return output.Answer(cmd.OutOrStdout(), prog.JSON, v, "%s %s%s (%s, %s)", v.Program, v.Version, revision, v.Go, v.Platform)
		},
	}
}

func versionOf(program, version string) versionReport {
	v := versionReport{Program: program, Version: version, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if v.Revision != "" {
		v.Revision += changed
	}
	return v
}
