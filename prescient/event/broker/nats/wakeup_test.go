package nats_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"prescient/prescient/event/broker/brokertest"
	"prescient/prescient/event/broker/nats"
	"prescient/prescient/longrun/wakeup"
)

func TestAgentsHearEachOtherByNATS(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, Username: "shop", Password: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(brokertest.Patience) {
		t.Fatal("the server is not ready")
	}
	address := "nats://shop:s3cret@" + s.Addr().String() + "?subject=shop.{topic}"
	open := func(subject string) wakeup.WakeUp {
		w, stop, err := nats.OpenWakeUp(address, subject, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		return w
	}
	one, two, other := open("prescient.agents.shop"), open("prescient.agents.shop"), open("prescient.agents.staging")
	heard, elsewhere := make(chan wakeup.Message, 100), make(chan wakeup.Message, 100)
	for w, into := range map[wakeup.WakeUp]chan wakeup.Message{two: heard, other: elsewhere} {
		stop, err := w.Receive(func(m wakeup.Message) { into <- m })
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	want := wakeup.Message{Kind: wakeup.Claim, From: "w", Pool: "heavy", Key: [16]byte{1, 2}, JobExec: "export", Token: 1 << 63, Priority: 1<<64 - 1, Until: time.Unix(1795176000, 1000).UTC()}
	patience := time.After(brokertest.Patience)
	for { // until the subscription is there
		one.Send(want)
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("%+v; want %+v", got, want)
			}
			if len(elsewhere) > 0 {
				t.Error("agents of another installation hear it")
			}
			return
		case <-patience:
			t.Fatal("nothing was heard")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestAWakeUpThatCannotBeIsRefused(t *testing.T) {
	for address, subject := range map[string]string{"http://h": "a", "nats://h": "a b"} {
		if _, _, err := nats.OpenWakeUp(address, subject, zerolog.Nop()); err == nil {
			t.Errorf("%s, %q is taken", address, subject)
		}
	}
}
