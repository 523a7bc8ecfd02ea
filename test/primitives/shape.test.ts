import { issuesIn, omittable, optional, required, requireShape, shape } from '../../lib/primitives/shape'

interface Parcel {
  readonly weight: number
  readonly owner?: string
  readonly label?: string | undefined
  readonly address?: { readonly city: string }
}

const isText = (value: unknown) => typeof value === 'string'

const addressShape = shape<{ readonly city: string }, { readonly heaviest: number }>({
  city: required(isText, 'must be a text.'),
})

const parcelShape = shape<Parcel, { readonly heaviest: number }>({
  weight: required((value, { heaviest }) => Number(value) <= heaviest, 'must not exceed the limit.'),
  owner: omittable(isText, 'must be a text, or absent.'),
  label: optional(isText, 'must be a text.'),
  address: optional(addressShape, 'must be { city }.'),
})

const issuesOf = (value: unknown) =>
  issuesIn(parcelShape, value, { heaviest: 10 }).map(({ path, message }) => `${path} ${message}`)

describe('issuesIn', () => {
  it.each([
    { weight: 1 },
    { weight: 10, owner: 'alice', label: 'books', address: { city: 'Bern' } },
    { weight: 1, label: undefined, address: undefined },
  ])('accepts %j', (value) => {
    expect(issuesOf(value)).toEqual([])
  })

  it.each<[string, object, readonly string[]]>([
    ['a missing required member', {}, ['weight must not exceed the limit.']],
    ['a value that the context rules out', { weight: 11 }, ['weight must not exceed the limit.']],
    [
      'an omittable member that is undefined',
      { weight: 1, owner: undefined },
      ['owner must be a text, or absent.'],
    ],
    ['an optional member that is null', { weight: 1, label: null }, ['label must be a text.']],
    ['no object where a shape is expected', { weight: 1, address: 'Bern' }, ['address must be { city }.']],
    ['a list where a shape is expected', { weight: 1, address: [] }, ['address must be { city }.']],
    ['a mistake inside', { weight: 1, address: { city: 7 } }, ['address.city must be a text.']],
    [
      'unknown members, also inside',
      { weight: 1, wieght: 2, address: { city: 'Bern', zip: 3000 } },
      [
        'address.zip is not known here; the known names are city.',
        'wieght is not known here; the known names are weight, owner, label, address.',
      ],
    ],
    [
      'a member __proto__ of JSON',
      JSON.parse('{ "weight": 1, "__proto__": {} }'),
      ['__proto__ is not known here; the known names are weight, owner, label, address.'],
    ],
    [
      'every mistake at once',
      { weight: 11, label: 7 },
      ['weight must not exceed the limit.', 'label must be a text.'],
    ],
  ])('lists %s', (_what, value, issues) => {
    expect(issuesOf(value)).toEqual(issues)
  })

  it('ignores unknown members where the shape says so', () => {
    const open = shape<{ readonly city: string }>({ city: required(isText, 'must be a text.') }, 'ignored')
    expect(issuesIn(open, { city: 'Bern', zip: 3000 }, undefined)).toEqual([])
    expect(issuesIn(open, { zip: 3000 }, undefined)).toEqual([{ path: 'city', message: 'must be a text.' }])
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'parcel'],
    ['a list', [{ weight: 1 }]],
    ['a promise', Promise.resolve({ weight: 1 })],
  ])('refuses %s in place of the object', (_what, value) => {
    expect(issuesOf(value)).toEqual(['it must be an object, not a promise or a list.'])
  })
})

describe('requireShape', () => {
  const check = (value: unknown) =>
    requireShape(parcelShape, value, 'The sender returned a wrong parcel:', { heaviest: 10 })

  it('throws one TypeError with the subject and every mistake', () => {
    expect(() => check({ weight: 11, label: 7 })).toThrow(
      new TypeError(
        'The sender returned a wrong parcel: weight must not exceed the limit. label must be a text.',
      ),
    )
  })

  it('lets a right value through', () => {
    expect(() => check({ weight: 1 })).not.toThrow()
  })
})
