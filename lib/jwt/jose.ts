import type * as jose from 'jose' with { 'resolution-mode': 'import' }

export type Jose = typeof jose

let loading: Promise<Jose> | undefined

/** An ES module: `import()` loads it on every supported Node, `require` only on newer ones. Without JWTs, nothing does. */
export const loadJose = (): Promise<Jose> => (loading ??= import('jose'))
