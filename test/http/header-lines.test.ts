import { headerLines } from '../../lib/http/request'

const rawHeaders = ['Host', 'a', 'AUTHORIZATION', 'first', 'Authorization2', 'x', 'authorization', 'second']

describe('headerLines', () => {
  it('has every line of the header in the order of the request, whatever the case of its name', () => {
    expect(headerLines({ rawHeaders }, 'authorization')).toEqual(['first', 'second'])
  })

  it('has none of a header that is not there, and takes no value for a name', () => {
    expect(headerLines({ rawHeaders }, 'cookie')).toEqual([])
    expect(headerLines({ rawHeaders: ['X', 'cookie', 'Y', 'z'] }, 'cookie')).toEqual([])
    expect(headerLines({ rawHeaders: [] }, '__proto__')).toEqual([])
  })
})
