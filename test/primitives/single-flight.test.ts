import { setImmediate as nextTurn } from 'node:timers/promises'
import { SingleFlight } from '../../lib/primitives/single-flight'

const modes = ['settled', 'end of turn'] as const
type Act = () => Promise<string | undefined>
const later = async (outcome: string | undefined) =>
  new Promise<string | undefined>((resolve) => setImmediate(resolve, outcome))

describe('share', () => {
  it.each(modes)('runs one act for all callers with one key in one turn (until: %s)', async (until) => {
    const acts = new SingleFlight<string | undefined>(until)
    const act = jest.fn(async () => later('done'))
    expect(await Promise.all(['a', 'a', 'b', 'a'].map((key) => acts.share(key, act)))).toEqual(
      Array(4).fill('done'),
    )
    expect(act).toHaveBeenCalledTimes(2)
  })

  it.each(modes)('shares a rejection (until: %s)', async (until) => {
    const acts = new SingleFlight<string>(until)
    const act = jest.fn(async () => Promise.reject(new Error('Away.')))
    const outcomes = await Promise.allSettled([acts.share('a', act), acts.share('a', act)])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(act).toHaveBeenCalledTimes(1)
  })

  it.each(modes)(
    'does not share what an act throws before it returns a promise (until: %s)',
    async (until) => {
      const acts = new SingleFlight<string>(until)
      const throwing = () => {
        throw new Error('Refused.')
      }
      expect(() => acts.share('a', throwing)).toThrow('Refused.')
      expect(acts.has('a')).toBe(false)
      expect(await acts.share('a', async () => 'done')).toBe('done')
    },
  )

  it('lets callers join an act of an earlier turn until it has settled', async () => {
    const acts = new SingleFlight<string | undefined>()
    const act = jest.fn(async () => nextTurn().then(() => later('done')))
    const first = acts.share('a', act)
    await nextTurn()
    await Promise.all([first, acts.share('a', act)])
    expect(act).toHaveBeenCalledTimes(1)
    await acts.share('a', act)
    expect(act).toHaveBeenCalledTimes(2)
  })

  it("lets no caller join an act of an earlier turn with 'end of turn'", async () => {
    const acts = new SingleFlight<string | undefined>('end of turn')
    const act = jest.fn(async () => nextTurn().then(() => later('done')))
    const first = acts.share('a', act)
    expect(acts.has('a')).toBe(true)
    await nextTurn()
    expect(acts.has('a')).toBe(false)
    await Promise.all([first, acts.share('a', act)])
    expect(act).toHaveBeenCalledTimes(2)
  })
})

describe('shareSuccess', () => {
  let acts: SingleFlight<string | undefined>
  beforeEach(() => {
    acts = new SingleFlight()
  })
  const together = async (act: Act, keys: readonly string[]) =>
    Promise.allSettled(keys.map((key) => acts.shareSuccess(key, act)))

  it('shares a success among callers with one key', async () => {
    const act = jest.fn(async () => later('done'))
    const outcomes = await together(act, ['a', 'a', 'a', 'b'])
    expect(outcomes.map((outcome) => Object.values(outcome)[1])).toEqual(['done', 'done', 'done', 'done'])
    expect(act).toHaveBeenCalledTimes(2)
  })

  it('shares no act that resolves to undefined', async () => {
    const act = jest.fn(async () => later(undefined))
    await together(act, ['a', 'a', 'a'])
    expect(act).toHaveBeenCalledTimes(3)
  })

  it('shares no rejection: each caller gets its own', async () => {
    let times = 0
    const act = async () => Promise.reject(new Error(`refusal ${++times}`))
    const outcomes = await together(act, ['a', 'a', 'a'])
    const refusals = outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : ''))
    expect(refusals.toSorted()).toEqual(['Error: refusal 1', 'Error: refusal 2', 'Error: refusal 3'])
  })

  it('runs an act again once it has settled', async () => {
    const act = jest.fn(async () => later('done'))
    await acts.shareSuccess('a', act)
    await acts.shareSuccess('a', act)
    expect(act).toHaveBeenCalledTimes(2)
  })
})
