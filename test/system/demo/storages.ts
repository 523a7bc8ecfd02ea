import { extent } from '../../support/extent'

/** Where the demo keeps things: Redis shows every rule, and memory has them all in the long run. */
export const storages = extent(['Redis'], ['memory', 'Redis'])
