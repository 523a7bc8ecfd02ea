import { countedName } from '../../../../lib/token-endpoint/grant-types/password/counted-name'

describe('the name that guesses are counted under', () => {
  it.each([
    'Alice',
    'ALICE',
    ' alice',
    'alice  ',
    'al ice',
    'alice\t',
    'alice\u0000',
    '\u200Balice',
    'alic\u00ADe',
    'álicé',
    'a\u0301lice',
    'ａｌｉｃｅ',
    '𝒶𝓁𝒾𝒸𝑒',
    'a\u1DC4lice',
    'ali\uFE0Fce',
    'ali\u3164ce',
    'aⅼıce',
    'ałice',
    'ⱥlɨȼɇ',
  ])('is one for %j and alice', (spelling) => {
    expect(countedName(spelling)).toBe('alice')
  })

  it.each([
    ['straße', 'STRASSE'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['ﬁne', 'fine'],
    ['straße', 'strase'],
    ['SØREN', 'soren'],
    ['Łukasz', 'lukasz'],
    ['Đorđe', 'dorde'],
    ['Ægir', 'aegir'],
    ['Œdipe', 'oedipe'],
    ['Þórður', 'thordur'],
    ['Ħamrun', 'hamrun'],
    ['ŋaŧi', 'nati'],
  ])('is one for %s and %s', (one, other) => {
    expect(countedName(one)).toBe(countedName(other))
  })

  it.each(['bob', 'alice2', 'alice@example.com', 'मीना', '__proto__', 'constructor'])(
    'is another one for %s than for alice',
    (name) => {
      expect(countedName(name)).not.toBe(countedName('alice'))
    },
  )

  it('tells names apart whose vowels are marks', () => {
    expect(countedName('मीना')).not.toBe(countedName('मना'))
  })
})
