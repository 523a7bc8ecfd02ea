import { type Priority, Semaphore } from '../../lib/primitives/semaphore'

const settle = async () => new Promise((resolve) => setImmediate(resolve))

/** Two turns at once and a line of three; acts end when they are told to. */
function stage() {
  const turns = new Semaphore(2, 3, () => new Error('The line is full.'))
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = async (name: string, place: Priority = 'in line') =>
    turns.take(place, async () => {
      begun.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      return name
    })
  const end = async (name: string) => {
    await settle()
    ends.get(name)?.()
    await settle()
  }
  return { turns, begun, ask, end }
}

describe('Turns', () => {
  it('begin as many acts at once as there is room for, and the others in their order', async () => {
    const { ask, begun, end } = stage()
    const outcomes = Promise.all(['a', 'b', 'c', 'd'].map((name) => ask(name)))
    await settle()
    expect(begun).toEqual(['a', 'b'])
    await end('b')
    expect(begun).toEqual(['a', 'b', 'c'])
    for (const name of ['c', 'a', 'd']) await end(name)
    expect(await outcomes).toEqual(['a', 'b', 'c', 'd'])
  })

  it('refuse an act when the queue is full, and do not begin it', async () => {
    const { ask, begun, end } = stage()
    const outcomes = Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => ask(name)))
    const refused = ask('f')
    await expect(refused).rejects.toThrow('The line is full.')
    for (const name of ['a', 'b', 'c', 'd', 'e']) await end(name)
    await outcomes
    expect(begun).not.toContain('f')
  })

  it('begin acts before the queue first and acts after it last, and refuse neither', async () => {
    const { ask, begun, end } = stage()
    const behind = ['v', 'w', 'x', 'y', 'z']
    const line = ['a', 'b', 'c', 'd', 'e']
    const first = ['1', '2', '3', '4', '5']
    const outcomes = Promise.all([
      ...line.map((name) => ask(name)),
      ...behind.map((name) => ask(name, 'after the line')),
      ...first.map((name) => ask(name, 'before the line')),
    ])
    await settle()
    for (let at = 0; at < 15; at++) await end(begun[at] ?? '')
    await outcomes
    expect(begun).toEqual(['a', 'b', ...first, 'c', 'd', 'e', ...behind])
  })

  it('are given on by an act that breaks', async () => {
    const { turns, ask, end } = stage()
    for (let time = 0; time < 5; time++)
      await expect(turns.take('in line', async () => Promise.reject(new Error('broken')))).rejects.toThrow(
        'broken',
      )
    const outcomes = Promise.all([ask('a'), ask('b')])
    await end('a')
    await end('b')
    expect(await outcomes).toEqual(['a', 'b'])
  })
})
