import { OptionsReader } from '../../lib/protocol/configuration'
import { readLimit } from '../../lib/rate-limit/limit'

const fallback = { attempts: 10, seconds: 900 }

function read(source: unknown) {
  const reading = new OptionsReader({ username: source }, 'limits')
  return { limit: readLimit(reading, 'username', fallback), issues: reading.issues }
}

describe('readLimit', () => {
  it.each([
    [undefined, fallback],
    [false, undefined],
    [{}, fallback],
    [{ attempts: 3 }, { attempts: 3, seconds: 900 }],
    [{ seconds: 60 }, { attempts: 10, seconds: 60 }],
    [
      { attempts: 1_000_000, seconds: 86_400 },
      { attempts: 1_000_000, seconds: 86_400 },
    ],
  ])('makes of %j: %j', (source, limit) => {
    expect(read(source)).toEqual({ limit, issues: [] })
  })

  it.each([0, -1, 1.5, '5', NaN, Infinity, null, 1_000_001])('refuses %j attempts', (attempts) => {
    expect(read({ attempts }).issues).toEqual([
      { path: 'limits.username.attempts', message: 'must be a whole number, 1 to 1000000.' },
    ])
  })

  it.each([0, 86_401, '60'])('refuses %j seconds', (seconds) => {
    expect(read({ seconds }).issues).toEqual([
      { path: 'limits.username.seconds', message: 'must be a whole number, 1 to 86400.' },
    ])
  })

  it.each([true, 5, null, [], '10/900'])('refuses %j, which is no limit', (source) => {
    expect(read(source).issues).toEqual([{ path: 'limits.username', message: 'must be an object.' }])
  })

  it('refuses a name that it does not know', () => {
    expect(read({ attempt: 3 }).issues).toEqual([
      {
        path: 'limits.username.attempt',
        message: 'is not known here. Did you mean attempts? The known names are attempts, seconds.',
      },
    ])
  })
})
