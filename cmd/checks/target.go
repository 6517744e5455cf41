package checks

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/prescient"
)

// target is the flags that name one check.
type target struct{ entity, exec, tag string }

func (t *target) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.entity, "entity", "", "what the check is about: name/key, as in order/42")
	cmd.Flags().StringVar(&t.exec, "exec", "", "the job_exec that checks it")
	cmd.Flags().StringVar(&t.tag, "tag", "", "tells apart several checks of one job_exec on one entity")
}

// parse reads the entity; the rest is checked by the library.
func (t *target) parse() (prescient.Entity, error) {
	e, err := parseEntity(t.entity)
	if err == nil && t.exec == "" {
		err = exit.Usage(errors.New("give --exec, the name of the job_exec"))
	}
	if err != nil {
		return e, err
	}
	return e, prescient.ValidCheck(e, t.exec, t.tag)
}

func parseEntity(text string) (prescient.Entity, error) {
	if text == "" {
		return prescient.Entity{}, exit.Usage(errors.New("give --entity name/key, as in --entity order/42"))
	}
	e, err := prescient.ParseEntity(text)
	if err != nil {
		return e, exit.Usage(fmt.Errorf("--entity: %w", err))
	}
	return e, nil
}
