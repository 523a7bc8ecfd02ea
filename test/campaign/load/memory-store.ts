import type { Authorization } from '../../../lib/authorization/authorization'
import { decodeAuthorization, encodeAuthorization } from '../../../lib/authorization/codec'
import { memoryStore } from '../../../lib/stores/memory-store'
import {
  activeRecord,
  inSeconds,
  pendingRecord,
  random22,
  refreshed,
} from '../../../lib/testing/example-records'
import { report } from '../../support/reliability/report'
import { Ticks } from './ticks'

/** What one run saw: counts and bytes are its own, pauses depend on the machine. */
export interface Seen {
  readonly records: number
  readonly bytesPerRecord: number
  readonly refusedWhenFull: number
  readonly bytesAfterExpiry: number
  readonly replacedAfterExpiry: number
  readonly tokensBesideWaiting: boolean
  readonly hour: { readonly operations: number; readonly bytesAtHalf: number; readonly bytesAtEnd: number }
  /** Milliseconds, the longest turn of each part. */
  readonly pauses: { readonly filling: number; readonly sweeping: number; readonly hour: number }
}

/** Operations for each turn of the event loop: about what a busy server gets done in one. */
const perTurn = 10
/** Copied for each operation, 20 kB of garbage: a token request over HTTP was measured to leave twice that. */
const garbage: readonly number[] = Array.from({ length: 2500 }, () => 0)

/** Held for a moment, so that no compiler leaves it out. */
export let lastGarbage: readonly number[] = []

async function load(records: number, perSecond: number): Promise<Seen> {
  const begin = inSeconds(0)
  let now = begin
  const seconds = (span: number) => now + span
  const ticks = new Ticks()
  const before = memory()
  const store = memoryStore({ maximumRecords: records, clock: () => now * 1000 })
  const save = (authorization: Authorization) => {
    lastGarbage = garbage.slice()
    return store.save(ownCopy(authorization), random22())
  }
  const saveMany = async (count: number, make: () => Authorization): Promise<number> => {
    let refused = 0
    for (let done = 0; done < count; done++) {
      await save(make()).catch(() => refused++)
      if (done % perTurn === 0) await ticks.next()
    }
    return refused
  }

  // An hour in which they were issued, so that they do not all end in one second.
  let issued = 0
  await saveMany(records, () => refreshed(seconds(3600 + Math.floor((issued++ * 3600) / records))))
  const filling = ticks.longest()
  const bytesPerRecord = Math.round((memory() - before) / records)
  const refusedWhenFull = await saveMany(100, () => activeRecord(seconds(60)))

  now += 2 * 3600
  ticks.begin()
  // None of them is refused, though each finds the map full of expired ones at first.
  const replacedAfterExpiry =
    Math.ceil(records / 3) - (await saveMany(Math.ceil(records / 3), () => pendingRecord(seconds(1))))
  const sweeping = ticks.longest()
  now += 60
  await saveMany(Math.ceil(records / 3), () => pendingRecord(seconds(1)))
  const bytesAfterExpiry = memory() - before

  // A flood of consent pages takes no room from codes and tokens.
  now += 60
  await saveMany(Math.ceil(records * 0.6), () => pendingRecord(seconds(1)))
  const tokensBesideWaiting = await save(activeRecord(seconds(1)))

  now += 60
  ticks.begin()
  const hour = await anHour()
  return {
    records,
    bytesPerRecord,
    refusedWhenFull,
    bytesAfterExpiry,
    replacedAfterExpiry,
    tokensBesideWaiting,
    hour,
    pauses: { filling, sweeping, hour: ticks.longest() },
  }

  // Two hours: the first fills the store to its level, and across the second it must stay there.
  async function anHour(): Promise<Seen['hour']> {
    const bytes: number[] = []
    for (let passed = 0; passed < 7200; passed++) {
      now += 1
      let turn = 0
      await saveMany(perSecond, () =>
        turn++ % 2 === 0 ? pendingRecord(seconds(60)) : activeRecord(seconds(3600)),
      )
      if (passed === 5400 - 1 || passed === 7200 - 1) {
        bytes.push(memory() - before)
        ticks.skip()
      }
    }
    const [bytesAtHalf = 0, bytesAtEnd = 0] = bytes
    return { operations: 7200 * perSecond, bytesAtHalf, bytesAtEnd }
  }
}

let copies = 0

// The examples share their texts; what comes from requests does not. Of as many clients and owners that none has its share.
function ownCopy(authorization: Authorization): Authorization {
  const copy = decodeAuthorization(authorization.id, encodeAuthorization(authorization))
  if (copy.state === 'denied' || copy.state === 'unclaimed') return copy
  const { clientId, subject } = copy
  copies += 1
  return {
    ...copy,
    clientId: `${clientId}-${copies % 100}`,
    ...(subject === undefined ? {} : { subject: `${subject}-${copies}` }),
  }
}

function memory(): number {
  if (globalThis.gc === undefined) throw new Error('Run it with node --expose-gc.')
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const pause = (milliseconds: number) => `longest turn of the event loop ${Math.round(milliseconds)} ms`

async function main(): Promise<void> {
  const seen = await load(Number(process.argv[2] ?? 100_000), Number(process.argv[3] ?? 100))
  console.log(JSON.stringify(seen))
  report('memory', 'npm run test:memory', [
    {
      case: 'fill with refreshed authorizations',
      rounds: seen.records,
      invariant: 'bounded: one more is refused; no turn of the event loop over 50 ms',
      result: `${seen.bytesPerRecord} bytes each, ${seen.refusedWhenFull} of 100 more refused, ${pause(seen.pauses.filling)}`,
    },
    {
      case: 'all expired, then new ones come',
      rounds: Math.ceil(seen.records / 3),
      invariant: 'none is refused, and the expired ones go; no turn of the event loop over 50 ms',
      result: `${seen.replacedAfterExpiry} kept, ${megabytes(seen.bytesAfterExpiry)} left, ${pause(seen.pauses.sweeping)}`,
    },
    {
      case: 'more open consent pages than there is room for',
      rounds: Math.ceil(seen.records * 0.6),
      invariant: 'tokens are issued beside them',
      result: seen.tokensBesideWaiting ? 'issued' : 'refused',
    },
    {
      case: 'two hours of traffic: half consent pages of 60 s, half tokens of an hour',
      rounds: seen.hour.operations,
      invariant: 'memory is flat once the first tokens expire; no turn of the event loop over 50 ms',
      result: `${megabytes(seen.hour.bytesAtHalf)} after 90 minutes, ${megabytes(seen.hour.bytesAtEnd)} at the end, ${pause(seen.pauses.hour)}`,
    },
  ])
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
