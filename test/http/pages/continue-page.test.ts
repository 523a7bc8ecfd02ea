import { continuePage } from '../../../lib/http/pages/pages'

const location = 'https://book.example/callback?app=1#access_token=at_x&state=%22%3E'
const page = continuePage({ location, approved: true })

describe('continuePage', () => {
  it('has one link, which opens in its place and tells its target nothing of the page', () => {
    const href = 'https://book.example/callback?app=1#access_token=at_x&amp;state=%22%3E'
    expect(page.match(/<a [^>]*>/g)).toEqual([
      `<a class="primary" href="${href}" rel="noreferrer" referrerpolicy="no-referrer">`,
    ])
  })

  it('names where it leads, an app too, and shows nothing of the answer', () => {
    expect(page).toContain('<bdi>book.example</bdi>')
    expect(continuePage({ location: 'com.example.app:/cb#x', approved: true })).toContain(
      '(com.example.app:)',
    )
    expect(page.replace(/href="[^"]*"/, '')).not.toContain('at_x')
  })

  it('tells an approval from anything else', () => {
    expect(page).toContain('<h1>You allowed access</h1>')
    const refusal = continuePage({ location, approved: false })
    expect(refusal).toContain('<h1>No access was given</h1>')
    expect(refusal).not.toContain('You allowed')
  })

  it('escapes a location that is HTML [consent-20]', () => {
    const text = continuePage({ location: 'x:"><img src=x>', approved: true })
    expect(text).not.toContain('<img')
  })

  it('has no script, no inline style attribute, no form and does not go on by itself', () => {
    expect(page).not.toMatch(/<script|\sstyle=|\son\w+=|<form|http-equiv|target=/i)
  })
})
