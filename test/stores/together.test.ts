import { Batcher } from '../../lib/stores/redis/batched-reads'

const outcomes = async (asked: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(asked)).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : `${outcome.reason}`,
  )

describe('Together', () => {
  it('asks as one what was asked until it is sent, and answers each', async () => {
    const sent: (readonly number[])[] = []
    const squares = new Batcher<number, number>(async (numbers) => {
      sent.push(numbers)
      return numbers.map((number) => number * number)
    })
    const first = [squares.add(2), squares.add(3), squares.add(2)]
    expect(sent).toEqual([])
    squares.flush()
    const second = [squares.add(4)]
    squares.flush()
    expect(await outcomes([...first, ...second])).toEqual([4, 9, 4, 16])
    expect(sent).toEqual([[2, 3, 2], [4]])
  })

  it('asks nothing when there is nothing to ask', () => {
    const askAll = jest.fn(async () => [])
    new Batcher(askAll).flush()
    expect(askAll).not.toHaveBeenCalled()
  })

  it('tells each of trouble, and asks again afterwards', async () => {
    let isDown = true
    const echo = new Batcher<string, string>(async (words) => {
      if (isDown) throw new Error('It is down.')
      return words
    })
    const asked = [echo.add('a'), echo.add('b')]
    echo.flush()
    expect(await outcomes(asked)).toEqual(['Error: It is down.', 'Error: It is down.'])
    isDown = false
    const again = [echo.add('c')]
    echo.flush()
    expect(await outcomes(again)).toEqual(['c'])
  })

  it.each([
    ['too few', ['a']],
    ['too many', ['a', 'b', 'c']],
  ])('gives nobody the answer of another when there are %s', async (_, answers) => {
    const broken = new Batcher<string, string>(async () => answers)
    const asked = [broken.add('a'), broken.add('b')]
    broken.flush()
    const trouble = `Error: The batch of 2 calls got ${answers.length} results.`
    expect(await outcomes(asked)).toEqual([trouble, trouble])
  })
})
