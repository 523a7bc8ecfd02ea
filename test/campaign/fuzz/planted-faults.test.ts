import { extent } from '../../support/extent'
import { fuzz } from './fuzz'
import { planOfMemory } from './parties'
import type { Fault } from './planted-faults'
import { startFuzzServer } from './start-fuzz-server'

const byGet = 'authorization request by GET'

type Case = readonly [fault: Fault, kind: string, complaint: RegExp]

const inEveryRun: readonly Case[] = [
  ['echo', byGet, /the body echoes the request$/],
  ['rejection', 'revocation', /^unhandled rejection: Error: A planted rejection\.$/],
  ['leak', 'metadata', /^memory grew by more than \d+ bytes$/],
  ['open redirect', byGet, /leads to a place that is not registered$/],
  ['open guard', 'guard by mac', /won although/],
]

const inLongRuns: readonly Case[] = [
  ['repeated parameter', byGet, /status 500$/],
  ['hang', 'revocation', /no answer, while others are answered$/],
  ['cached', 'client credentials', /JSON that may be cached$/],
  ['wrong code', 'revocation', /error something_else$/],
  ['open token endpoint', 'code of a public client', /won although/],
  ['warning', 'metadata', /^warning Warning: Something is odd\.$/],
  ['open handle', 'metadata', /^handles stay open$/],
]

test.each(extent(inEveryRun, [...inEveryRun, ...inLongRuns]))(
  'the fuzzer notices: %s',
  async (fault, kind, complaint) => {
    const server = await startFuzzServer({ ...planOfMemory, fault })
    try {
      // What grows is seen at the end only.
      const patience = fault === 'leak' || fault === 'open handle' ? 1000 : 1
      const run = { seed: 7, requests: 900, timeMoves: true, patience, kinds: [kind] }
      const { complaints } = await fuzz(server, run)
      expect([...complaints.keys()]).toContainEqual(expect.stringMatching(complaint))
    } finally {
      await server.stop()
    }
  },
  // A run is bounded by its requests.
  10 * 60_000,
)
