import { inspect } from 'node:util'
import { bareError } from '../../lib/protocol/oauth-error'

class ReplyError extends Error {
  override readonly name = 'ReplyError'
  constructor(
    message: string,
    readonly command: { readonly name: string; readonly args: readonly string[] },
  ) {
    super(message)
  }
}

const command = { name: 'set', args: ['oauth:authorization:x', 'the record'] }

describe('an error without its properties', () => {
  it('tells name, message, stack and class, and no command', () => {
    const bare = bareError(new ReplyError('OOM command not allowed', command))
    expect(bare).toBeInstanceOf(ReplyError)
    expect([bare.name, bare.message]).toEqual(['ReplyError', 'OOM command not allowed'])
    expect(inspect(bare, { depth: Infinity, showHidden: true })).toMatch(/OOM command not allowed[^]* at /)
    expect(inspect(bare, { depth: Infinity, showHidden: true })).not.toContain('the record')
  })

  it('is bare of its causes and parts, too', () => {
    const inner = new ReplyError('inner', command)
    const bare = bareError(new AggregateError([inner], 'outer', { cause: inner }))
    const text = inspect(bare, { depth: Infinity, showHidden: true })
    expect(text.match(/inner/g)?.length).toBeGreaterThan(1)
    expect(text).not.toContain('the record')
  })

  it('keeps the codes by which Node says what failed', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', port: 6379, query: 'secret' })
    expect(inspect(bareError(refused), { showHidden: true })).toMatch(/ECONNREFUSED[^]*6379/)
    expect(inspect(bareError(refused), { showHidden: true })).not.toContain('secret')
  })

  it('cuts the arguments that Redis repeats', () => {
    const told = "ERR unknown command 'evalsha', with args beginning with: 'sha' '1' 'the record'"
    const bare = bareError(new Error(told))
    expect(bare.message).toBe("ERR unknown command 'evalsha'")
    expect(inspect(bare)).not.toContain('the record')
  })

  it('tells nothing of what is no error, and ends where causes go round', () => {
    expect(inspect(bareError({ password: 'wonderland' }))).not.toContain('wonderland')
    const round = new Error('round')
    round.cause = round
    expect(bareError(round).message).toBe('round')
  })
})
