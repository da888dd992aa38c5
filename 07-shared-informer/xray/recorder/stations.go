// The stations of the page: the parts of both informers.

package recorder

// The names of the stations on the page. The station of a handler is named by handlerStation.
const (
	stationServer    = "server"
	stationReflector = "reflector"
	stationStore     = "store"
	stationJournal   = "journal"
	stationClientGo  = "client-go/informer"
	stationBulk      = "bulk" // of many updates that are under way
)

func handlerStation(implementation Implementation, name string) string {
	if implementation == ClientGo {
		return "client-go/handlers/" + name
	}
	return "handlers/" + name
}
