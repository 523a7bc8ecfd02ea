/** The results of `prepare` by the name of the extension. A map: an extension may be named `constructor`. */
export type Evidence = ReadonlyMap<string, unknown>

export const noEvidence: Evidence = new Map()
