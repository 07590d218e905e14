package sim

// kinds are all the kinds there are: one line here, one folder of files named
// after it beside this one, its scenarios under scenarios/.
func kinds() []Kind {
	return []Kind{
		hotKeyLeases(),
		shardedLeases(),
		fleetKind(),
		onekeyKind(),
		windowEdgeKind(),
		raceKind(),
		honourKind(),
		rolloutKind(),
		outageKind(),
		loginsKind(),
		exportsKind(),
		firewallKind(),
		regionsKind(),
		regionSearchKind(),
		backendKind(),
		herdKind(),
		peaksKind(),
		layersKind(),
		attackKind(),
		billingKind(),
	}
}

func findKind(name string) (Kind, bool) {
	for _, k := range kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.Name)
	}
	return names
}
