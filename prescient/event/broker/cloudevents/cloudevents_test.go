package cloudevents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"prescient/prescient/event/broker"
	"prescient/prescient/event/broker/cloudevents"
	"prescient/prescient/event/broker/webhook"
)

const source = "https://shop.example/orders?a=\"b\""

var at = time.Date(2026, 3, 1, 13, 0, 0, 5000, time.UTC)

func message(contentType, body string) broker.Message {
	return broker.Message{
		ID: "order-42-1", Topic: "shop.order paid", Key: "ключ \"42\" 100%", GeneratedAt: at.In(time.FixedZone("", 3600)), ContentType: contentType,
		Headers: []broker.Header{{Name: broker.HeaderID, Value: "order-42-1"}, {Name: "X-App", Value: "shop"}}, Body: []byte(body),
	}
}

func TestStructuredSaysItAllInTheBody(t *testing.T) {
	format, err := cloudevents.Structured("/shop")
	if err != nil {
		t.Fatal(err)
	}
	const attributes = `{"specversion":"1.0","id":"order-42-1","source":"/shop","type":"shop.order paid","subject":"ключ \"42\" 100%",`
	const when = `"time":"2026-03-01T13:00:00.000005Z"`
	for _, test := range []struct{ contentType, body, want string }{
		// JSON
		{"application/json", `{"total": "12,50 €"}`, attributes + `"datacontenttype":"application/json",` + when + `,"data":{"total": "12,50 €"}}`},
		{"application/json; charset=utf-8", `1`, attributes + `"datacontenttype":"application/json; charset=utf-8",` + when + `,"data":1}`},
		{"", `null`, attributes + when + `,"data":null}`},
		// anything else
		{"application/json", `{`, attributes + `"datacontenttype":"application/json",` + when + `,"data_base64":"ew=="}`},
		{"application/json", "\"\xff\"", attributes + `"datacontenttype":"application/json",` + when + `,"data_base64":"Iv8i"}`},
		{"application/vnd.shop+json", `1`, attributes + `"datacontenttype":"application/vnd.shop+json",` + when + `,"data_base64":"MQ=="}`},
		{"text/plain", `1`, attributes + `"datacontenttype":"text/plain",` + when + `,"data_base64":"MQ=="}`},
		{"", "\xff\x00", attributes + `"datacontenttype":"application/octet-stream",` + when + `,"data_base64":"/wA="}`},
		// nothing
		{"", "", attributes + when + `}`},
	} {
		got, err := format(message(test.contentType, test.body))
		if err != nil || string(got.Body) != test.want {
			t.Errorf("%s, %v\nwant %s", got.Body, err, test.want)
		}
		if got.ContentType != "application/cloudevents+json" || fmt.Sprint(got.Headers) != "[{X-App shop}]" || got.ID != "order-42-1" || got.Topic != "shop.order paid" {
			t.Errorf("%+v", got)
		}
		var e event.Event
		if err := json.Unmarshal(got.Body, &e); err != nil || string(e.Data()) != test.body || e.Subject() != message("", "").Key || !e.Time().Equal(at) {
			t.Errorf("the SDK reads %v, %v", e, err)
		}
	}
}

// An event in a trace says so by the extension for that.
func TestAnEventSaysInWhichTraceItIs(t *testing.T) {
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	m := message("", "")
	m.Trace = trace
	structured, err := cloudevents.Structured("/shop")
	if err != nil {
		t.Fatal(err)
	}
	got, err := structured(m)
	var e event.Event
	if err != nil || json.Unmarshal(got.Body, &e) != nil || e.Extensions()["traceparent"] != trace {
		t.Errorf("%s, %v", got.Body, err)
	}
	binary, err := cloudevents.Binary("/shop")
	if err != nil {
		t.Fatal(err)
	}
	if got, err = binary(m); err != nil || !slices.Contains(got.Headers, broker.Header{Name: "ce-traceparent", Value: trace}) {
		t.Errorf("%v, %v", got.Headers, err)
	}
}

// What a webhook posts is what the SDK's receiver reads.
func TestBothFormsAreReadOverHTTP(t *testing.T) {
	for name, form := range map[string]func(string) (broker.Format, error){"structured": cloudevents.Structured, "binary": cloudevents.Binary} {
		t.Run(name, func(t *testing.T) {
			var got *event.Event
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var err error
				if got, err = cehttp.NewEventFromHTTPRequest(r); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			b, err := webhook.Open(t.Context(), broker.Options{URL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			format, err := form(source)
			if err != nil {
				t.Fatal(err)
			}
			m, err := format(message("application/json", `{"a":1}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Publish(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			plain := message("", "")
			decoded := func(text string) string { // the SDK leaves that to its user
				if plain, err := url.PathUnescape(text); name == "binary" && err == nil {
					return plain
				}
				return text
			}
			if got.ID() != plain.ID || decoded(got.Type()) != plain.Topic || decoded(got.Subject()) != plain.Key || decoded(got.Source()) != source || !got.Time().Equal(at) ||
				got.DataContentType() != "application/json" || string(got.Data()) != `{"a":1}` || got.Validate() != nil {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestBinaryLeavesTheBodyAndTheMessageAsTheyAre(t *testing.T) {
	format, err := cloudevents.Binary("/shop")
	if err != nil {
		t.Fatal(err)
	}
	plain := message("", "\xff")
	got, err := format(plain)
	if err != nil {
		t.Fatal(err)
	}
	want := "[{X-App shop} {ce-specversion 1.0} {ce-id order-42-1} {ce-source /shop} {ce-type shop.order%20paid} " +
		"{ce-subject %D0%BA%D0%BB%D1%8E%D1%87%20%2242%22%20100%25} {ce-time 2026-03-01T13:00:00.000005Z}]"
	if fmt.Sprint(got.Headers) != want || string(got.Body) != "\xff" || got.ContentType != "" {
		t.Errorf("%+v\nwant %s", got, want)
	}
	if len(plain.Headers) != 2 || plain.Headers[0].Name != broker.HeaderID {
		t.Errorf("the message has become %v", plain.Headers)
	}
}

func TestWhatIsNoCloudEventIsRefused(t *testing.T) {
	format, err := cloudevents.Binary("/shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []broker.Message{
		{Topic: "t", GeneratedAt: at}, {ID: "a", GeneratedAt: at}, {ID: "\xff", Topic: "t", GeneratedAt: at}, {ID: "a", Topic: "t", Key: "\xff", GeneratedAt: at},
	} {
		if _, err := format(m); !errors.Is(err, broker.ErrRefused) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for _, source := range []string{"", "http://%zz", ":"} {
		if _, err := cloudevents.Structured(source); err == nil {
			t.Errorf("the source %q is taken", source)
		}
	}
}
