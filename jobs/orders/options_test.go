package orders_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/jobs/orders"
	"prescient/prescient"
)

func TestOptionsThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		options orders.Options
		want    string
	}{
		{orders.Options{Prefix: "App_"}, `prefix "App_"`},
		{orders.Options{Prefix: "app."}, `prefix "app."`},
		{orders.Options{Prefix: "1_"}, `prefix "1_"`},
		{orders.Options{Prefix: strings.Repeat("a", 33)}, "prefix"},
		{orders.Options{JobExec: "order unshipped"}, `job_exec "order unshipped"`},
		{orders.Options{JobExec: strings.Repeat("a", 65)}, "job_exec"},
		{orders.Options{PrimaryAfter: -time.Hour}, "PrimaryAfter -1h0m0s"},
		{orders.Options{EscalateAfter: -time.Hour}, "EscalateAfter -1h0m0s"},
		{orders.Options{EscalateAfter: 3 * time.Hour}, "EscalateAfter 3h0m0s: must be more than PrimaryAfter, 3h0m0s"},
		{orders.Options{PrimaryAfter: 6 * time.Hour}, "EscalateAfter 6h0m0s: must be more than PrimaryAfter, 6h0m0s"},
	} {
		if _, err := orders.New(test.options); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q in it", test.options, err, test.want)
		}
	}
	if err := orders.CreateTables(t.Context(), nil, "App_"); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	o, err := orders.New(orders.Options{CancelOnShip: true, Prefix: strings.Repeat("a", 32)})
	if err != nil {
		t.Fatal(err)
	}
	_, placing := o.Place(t.Context(), nil, orders.NewOrder{})
	_, checking := o.Check(t.Context(), prescient.FutureJob{})
	_, reading := o.Alerts(t.Context(), 1)
	for want, err := range map[string]error{
		"Place needs Options.Client":        placing,
		"CancelOnShip needs Options.Client": o.Ship(t.Context(), nil, 1),
		"Check needs Options.DB":            checking,
		"Alerts needs Options.DB":           reading,
	} {
		if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	if err := o.Register(prescient.NewRegistry(), prescient.Guards{}); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
}
