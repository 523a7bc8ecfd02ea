import { SingleFlight } from '../../lib/client-authentication/single-flight'

describe('acts that are under way', () => {
  let acts: SingleFlight<string>
  beforeEach(() => {
    acts = new SingleFlight()
  })
  const later = async (outcome: string | undefined) =>
    new Promise<string | undefined>((resolve) => setImmediate(resolve, outcome))
  const together = async (act: () => Promise<string | undefined>, keys: readonly string[]) =>
    Promise.allSettled(keys.map((key) => acts.share(key, act)))

  it('share a success with the same act, and with no other', async () => {
    const act = jest.fn(async () => later('done'))
    const outcomes = await together(act, ['a', 'a', 'a', 'b'])
    expect(outcomes.map((outcome) => Object.values(outcome)[1])).toEqual(['done', 'done', 'done', 'done'])
    expect(act).toHaveBeenCalledTimes(2)
  })

  it('share no failure', async () => {
    const act = jest.fn(async () => later(undefined))
    await together(act, ['a', 'a', 'a'])
    expect(act).toHaveBeenCalledTimes(3)
  })

  it('share no refusal: each gets its own', async () => {
    let times = 0
    const act = async () => Promise.reject(new Error(`refusal ${++times}`))
    const outcomes = await together(act, ['a', 'a', 'a'])
    const told = outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : ''))
    expect(told.toSorted()).toEqual(['Error: refusal 1', 'Error: refusal 2', 'Error: refusal 3'])
  })

  it('are shared no longer than they are under way', async () => {
    const act = jest.fn(async () => later('done'))
    await acts.share('a', act)
    await acts.share('a', act)
    expect(act).toHaveBeenCalledTimes(2)
  })
})
