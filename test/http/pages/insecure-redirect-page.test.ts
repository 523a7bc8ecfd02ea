import { insecureRedirectPage } from '../../../lib/http/pages/pages'

const view = { location: 'http://old.example/callback?code=ac_1&state=a', granted: true }

describe('insecureRedirectPage', () => {
  it('tells that the connection is not protected, in the title and in the one heading', () => {
    const page = insecureRedirectPage(view)
    expect(page).toContain('<title>The way back is not protected</title>')
    expect(page.match(/<h1>[^]*?<\/h1>/g)).toEqual(['<h1>The way back is not protected</h1>'])
    expect(page).toContain('without encryption')
  })

  it('names where the link leads, and leads there with every byte of the answer', () => {
    const page = insecureRedirectPage(view)
    expect(page).toContain('<bdi>http://old.example</bdi>')
    expect(page.match(/<a [^>]*>/g)).toEqual([
      '<a href="http://old.example/callback?code=ac_1&amp;state=a" rel="noreferrer">',
    ])
  })

  it('says what closing the page means', () => {
    expect(insecureRedirectPage(view)).toContain('the app then gets no access')
    const refused = insecureRedirectPage({ ...view, granted: false })
    expect(refused).toContain('No access was given.')
    expect(refused).not.toContain('just allowed')
  })

  it('escapes a location that tries to be HTML', () => {
    const page = insecureRedirectPage({
      ...view,
      location: `http://old.example/"'><script>alert(1)</script>`,
    })
    expect(page).not.toMatch(/<script|'>|"'/)
  })

  it('has no script, no inline style attribute, no form and nothing that goes on by itself', () => {
    expect(insecureRedirectPage(view)).not.toMatch(/<script|\sstyle=|\son\w+=|<form|http-equiv|<img|<iframe/i)
  })
})
