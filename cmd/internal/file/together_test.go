package file_test

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"prescient/cmd/internal/file"
)

const together = `- step: export
  exec: export-orders
- id: digest
  crontab: "@daily"
  topic: reports
- job: nightly
  crontab: '@daily'
  steps: [export]
- job: digest
  crontab: '@daily'
  steps: [{name: one, exec: x}]
`

// readAll returns what stands in a file: the names of good entries, and what is said of others.
func readAll(text string, format file.Format, wanted file.Kind) (all []string) {
	for entry, err := range file.Read(bufio.NewReader(strings.NewReader(text)), format, wanted) {
		if err != nil {
			all = append(all, err.Error())
			continue
		}
		all = append(all, entry.String())
	}
	return all
}

func TestSchedulesJobsAndStepsStandTogether(t *testing.T) {
	const want = `step export|schedule "digest"|job nightly|job digest`
	for _, wanted := range []file.Kind{file.Schedule, file.Job} {
		if got := strings.Join(readAll(together, file.YAML, wanted), "|"); got != want {
			t.Errorf("%s: %s; want %s", wanted, got, want)
		}
		if got := strings.Join(readAll(strings.ReplaceAll(together, "\n- ", "\n---\n- "), file.YAML, wanted), "|"); got != want {
			t.Errorf("%s: %s; want %s", wanted, got, want)
		}
	}
}

// Whoever reads a file for one kind is told of what is wrong with the others, too.
func TestWhatIsWrongInACommonFileIsSaidToBoth(t *testing.T) {
	for _, test := range []struct {
		text, want string
		line       int
	}{
		{"- id: digest\n  crontab: '@daily'\n  topic: t\n", `schedule "digest": it stands in line 3 already`, 12},
		{"- job: nightly\n  crontab: '@daily'\n  steps: [x]\n", "job nightly: it stands in line 6 already", 12},
		{"- {step: export, exec: x}\n", "step export: it stands in line 1 already", 12},
		{"- id: a\n  crontab: '@daily'\n  topic: t\n  steps: [x]\n", `schedule "a": unknown name "steps"; id, crontab,`, 15},
		{"- job: a\n  crontab: '@daily'\n  steps: [x]\n  topic: t\n", `job a: unknown name "topic"`, 15},
		{"- job: a\n  id: a\n", `job a: unknown name "id"`, 13},
		{"- id: a\n  job: a\n  crontab: '@daily'\n  topic: t\n", `schedule "a": unknown name "job"`, 13},
		{"- {step: a, exec: x, crontab: '@daily'}\n", `step a: unknown name "crontab"`, 12},
		{"- id: a\n  crontab: '61 * * * *'\n  topic: t\n", "its minute is", 13},
		{"- job: a\n  crontab: '@daily'\n  zone: Mars\n  steps: [x]\n", "Mars", 14},
	} {
		for _, wanted := range []file.Kind{file.Schedule, file.Job} {
			var said []string
			for _, err := range file.Read(bufio.NewReader(strings.NewReader(together+test.text)), file.YAML, wanted) {
				var bad *file.Bad
				if err == nil {
					continue
				}
				if said = append(said, err.Error()); !errors.As(err, &bad) || bad.Line != test.line {
					t.Errorf("%q: %+v; want line %d", test.text, err, test.line)
				}
			}
			if len(said) != 1 || !strings.Contains(said[0], test.want) {
				t.Errorf("%s: %q: %q; want %s", wanted, test.text, said, test.want)
			}
		}
	}
}

func TestAKeyOfNoKindIsSaidToBeNoneOfThoseThatAreWanted(t *testing.T) {
	for wanted, want := range map[file.Kind]string{
		file.Schedule: `unknown name "task"; id, crontab`,
		file.Job:      "it is neither a job nor a step; want job: or step: with a name",
	} {
		if got := readAll("- {task: a, crontab: '@daily'}\n", file.YAML, wanted); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q; want %s", wanted, got, want)
		}
	}
}

func TestJSONLinesAreOfSchedulesAlone(t *testing.T) {
	if got := readAll(`{"job":"a","crontab":"@daily","steps":["x"]}`, file.JSONL, file.Schedule); len(got) != 1 || !strings.Contains(got[0], `unknown name "job"; id, crontab`) {
		t.Errorf("%q", got)
	}
}
