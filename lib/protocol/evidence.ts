/**
 * What the extensions found in one request of a client, each under its name: the results of `prepare` that are not
 * undefined. A map, because an extension may have a name such as `constructor`.
 */
export type Evidence = ReadonlyMap<string, unknown>

/** The evidence of a request about which no extension has found anything. */
export const noEvidence: Evidence = new Map()
