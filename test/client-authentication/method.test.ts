import { challengeOf } from '../../lib/client-authentication/method'

const basic = 'Basic realm="oauth", charset="UTF-8"'
const apiKey = 'ApiKey realm="oauth"'

describe('challengeOf', () => {
  it.each<[string, readonly string[], string]>([
    ['Basic', ['Basic x'], basic],
    ['the scheme that was tried, in its own spelling', ['apikey x'], apiKey],
    ['everything, where nothing was tried', [], `${basic}, ${apiKey}`],
    ['everything, where the scheme is unknown', ['Digest a="b"'], `${basic}, ${apiKey}`],
    ['everything, where the header is empty', [''], `${basic}, ${apiKey}`],
    ['both, where both were tried', ['ApiKey x', 'Basic x'], `${basic}, ${apiKey}`],
    ['no scheme that only begins like it', ['ApiKeys x'], `${basic}, ${apiKey}`],
  ])('names %s', (_what, authorization, challenge) => {
    expect(challengeOf(['Basic', 'ApiKey'], authorization)).toBe(challenge)
  })
})
