import { Together } from '../../lib/stores/together'

const outcomes = async (asked: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(asked)).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : `${outcome.reason}`,
  )

describe('Together', () => {
  it('asks as one what was asked until it is sent, and answers each', async () => {
    const sent: (readonly number[])[] = []
    const squares = new Together<number, number>(async (numbers) => {
      sent.push(numbers)
      return numbers.map((number) => number * number)
    })
    const first = [squares.ask(2), squares.ask(3), squares.ask(2)]
    expect(sent).toEqual([])
    squares.send()
    const second = [squares.ask(4)]
    squares.send()
    expect(await outcomes([...first, ...second])).toEqual([4, 9, 4, 16])
    expect(sent).toEqual([[2, 3, 2], [4]])
  })

  it('asks nothing when there is nothing to ask', () => {
    const askAll = jest.fn(async () => [])
    new Together(askAll).send()
    expect(askAll).not.toHaveBeenCalled()
  })

  it('tells each of trouble, and asks again afterwards', async () => {
    let isDown = true
    const echo = new Together<string, string>(async (words) => {
      if (isDown) throw new Error('It is down.')
      return words
    })
    const asked = [echo.ask('a'), echo.ask('b')]
    echo.send()
    expect(await outcomes(asked)).toEqual(['Error: It is down.', 'Error: It is down.'])
    isDown = false
    const again = [echo.ask('c')]
    echo.send()
    expect(await outcomes(again)).toEqual(['c'])
  })

  it.each([
    ['too few', ['a']],
    ['too many', ['a', 'b', 'c']],
  ])('gives nobody the answer of another when there are %s', async (_, answers) => {
    const broken = new Together<string, string>(async () => answers)
    const asked = [broken.ask('a'), broken.ask('b')]
    broken.send()
    const trouble = `Error: Of 2 questions, ${answers.length} were answered.`
    expect(await outcomes(asked)).toEqual([trouble, trouble])
  })
})
