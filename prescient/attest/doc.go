// Package attest proves which slots of a span were served: by whom, how late, how many rows, and whether history has as many ends. See [Run].
//
// A slot that is served leaves a row in the ledger, also where it was empty. One that is over and left none was missed, unless the audit says why.
//
// History has each end of the slot's books, and beyond them only what the app ended.
package attest
