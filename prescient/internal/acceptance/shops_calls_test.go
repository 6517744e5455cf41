package acceptance

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	checks "prescient/jobs/http"
	"prescient/jobs/http/probe"
	"prescient/prescient"
	"prescient/prescient/event/broker"
	"prescient/prescient/internal/rig/pages"
	"prescient/slots"
)

// calls are made as a worker makes them, and as nobody should.
func (s *shop) calls() {
	s.does("place", "45", "5")
	grid, err := slots.NewGrid(time.Second)
	s.must(err)
	about := prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "45"}, JobExec: "order-unshipped"}
	s.must(probe.Run(s.Context(), probe.Options{Endpoint: s.options(), Check: about, Grid: grid}, func(f probe.Finding) error {
		if f.Severity != probe.OK {
			s.Errorf("%s is %s: %s %s", f.Code, f.Severity, f.Text, f.Do)
		}
		return nil
	}))
	told := s.mails("45")
	if !strings.HasPrefix(told, "is late, is late") {
		s.Errorf("of calls of their own it did %q", told)
	}
	job := prescient.FutureJob{EntityName: "order", EntityKey: "45", JobExec: about.JobExec, Revision: 7, NextCheckAt: time.Now()}
	for range 2 {
		next, err := s.endpoint().Check(s.Context(), job)
		if err != nil || next == nil {
			s.Errorf("it answered %v, %v", next, err)
		}
	}
	if got := s.mails("45"); got != told+", is late" {
		s.Errorf("a call that was made again: after %q came %q", told, got)
	}
	// Who saw a call has its body and signature, and may make up what is not signed.
	body, err := json.Marshal(job)
	s.must(err)
	for _, key := range []string{"made up", "another one"} {
		headers := map[string]string{checks.IdempotencyKeyHeader: key, checks.SignatureHeader: checks.Sign([]byte(pages.SecretOfShop), body, time.Now())}
		if got := s.post("/checks/order-unshipped", headers, string(body)); got != http.StatusOK {
			s.Errorf("the call of %q got %d", key, got)
		}
	}
	if got := s.mails("45"); got != told+", is late" {
		s.Errorf("a call with another Idempotency-Key: after %q came %q", told, got)
	}
}

// strangers leave in the middle of a call, and sign with what an empty setting is.
func (s *shop) strangers() {
	c, err := new(net.Dialer).DialContext(s.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	_, err = c.Write([]byte("POST /checks/order-unshipped HTTP/1.1\r\nHost: shop\r\nContent-Length: 100\r\n\r\n{"))
	s.must(err)
	s.must(c.Close())
	s.withoutSecret()
}

// withoutSecret serves where none is set: it ends, or does nothing of what it is asked for.
func (s *shop) withoutSecret() {
	address := s.freeAddress()
	ended := s.runs(s.server(address, append(s.env, "SECRET=")))
	s.until("it does not serve", func() bool {
		select {
		case err := <-ended:
			return err != nil
		default:
			response, err := http.Post("http://"+address+"/checks/order-unshipped", "application/json", strings.NewReader("{}"))
			if err == nil {
				_ = response.Body.Close()
			}
			return err == nil && response.StatusCode >= 500
		}
	})
}

// events are posted again, at the same time, and by others.
func (s *shop) events() {
	m := broker.Message{ID: "order-46-shipped", Topic: "orders.shipped", Key: "order/46", ContentType: "application/json", Body: []byte(`{"order":"46"}`)}
	if err := s.hook("another secret").Publish(s.Context(), m); err == nil {
		s.Error("an event that somebody else has signed was taken")
	}
	signer, err := standardwebhooks.NewWebhookRaw([]byte(pages.SecretOfShop))
	s.must(err)
	for at, want := range map[time.Time]int{time.Now().Add(-time.Hour): http.StatusUnauthorized, time.Now().Add(time.Hour): http.StatusUnauthorized} {
		signature, err := signer.Sign(m.ID, at, m.Body)
		s.must(err)
		if got := s.publish(m, strconv.FormatInt(at.Unix(), 10), signature); got != want {
			s.Errorf("an event that was signed at %s got %d", at, got)
		}
	}
	for _, stamp := range []string{"", "now", "-1", "1e9", "é"} {
		if got := s.publish(m, stamp, "v1,é"); got != http.StatusUnauthorized {
			s.Errorf("an event of %q got %d", stamp, got)
		}
	}
	if got := s.mails("46"); got != "" {
		s.Errorf("of events that are refused it did %q", got)
	}
	hook := s.hook(pages.SecretOfShop)
	if err := hook.Publish(s.Context(), broker.Message{ID: "order-none-shipped", Topic: m.Topic, Key: m.Key, ContentType: m.ContentType, Body: []byte(`{"order":"none"}`)}); err == nil {
		s.Error("an event was taken, and what it is of could not be done")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := hook.Publish(s.Context(), m); err != nil {
				s.Error(err)
			}
		})
	}
	all.Wait()
	if got := s.mails("46"); got != "is on its way" {
		s.Errorf("of an event that came four times it did %q", got)
	}
}

func (s *shop) publish(m broker.Message, stamp, signature string) (status int) {
	s.Helper()
	return s.post("/events/"+m.Topic, map[string]string{"webhook-id": m.ID, "webhook-timestamp": stamp, "webhook-signature": signature}, string(m.Body))
}

func (s *shop) post(path string, headers map[string]string, body string) (status int) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
	s.must(err)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	s.must(err)
	defer response.Body.Close()
	return response.StatusCode
}
