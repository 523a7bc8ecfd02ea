/**
 * Many databases ignore letter case, accents, white space and invisible characters: one count for all
 * spellings.
 */
export function normalizeForCount(username: string): string {
  return username
    .normalize('NFKD')
    .replaceAll(ignored, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\0-\x7F]/gu, (letter) => plainLetters.get(letter) ?? letter)
    .replaceAll(/s+/g, 's')
    .normalize('NFKC')
}

// Marks of no particular script, control characters, white space, and ignorable characters. The vowel signs
// of a script stay.
const ignored = /[\p{Script=Inherited}\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\s]/gu

// Latin letters that Unicode does not decompose, by the Unicode collation algorithm (MySQL, ICU) and
// PostgreSQL's unaccent. Some equate ß with "ss", some with "s": a run of s counts as one.
const foldings = {
  a: 'ᴀᶏⱥꞛꟁ',
  b: 'ƀƃɓʙᴃᵬᶀ',
  c: 'ƈȼɕᴄꞓ',
  d: 'ðđƌȡɖɗᴅᴆᵭᶁᶑꝱꝺ',
  e: 'ɇɛᴇᶒᶓⱸ',
  f: 'ƒᵮᶂꝼ',
  g: 'ǥɠɡɢʛᵹᶃꞡ',
  h: 'ħɦɧʜⱨ',
  i: 'ɨɩɪᵻᶖ',
  j: 'ȷɉɟʝᴊ',
  k: 'ƙᴋᶄⱪꝁꝃꝅꞣ',
  l: 'łƚȴɫɬɭʟᴌᶅⱡꝇꝉꝲ',
  m: 'ɱᴍᵯᶆꝳ',
  n: 'ŋƞȵɲɳɴᵰᶇꝴꞑꞥ',
  o: 'øᴏⱺꝋꝍꞝ',
  p: 'ƥᴘᵱᵽᶈꝑꝓꝕ',
  q: 'ĸʠꝗꝙ',
  r: 'ɍɼɽɾʀᵲᵳᶉꝛꝵꞃꞧ',
  s: 'ßȿʂᵴᶊẜẝꜱꞅꞩꟙ',
  t: 'ŧƫƭȶʈᴛᵵⱦꝷꞇ',
  u: 'ʉᴜᵾᶙꞟ',
  v: 'ʋᴠᶌỽⱱⱴꝟ',
  w: 'ᴡⱳꟃ',
  x: 'ᶍ',
  y: 'ƴɏʏỿ',
  z: 'ƶȥɀʐʑᴢᵶᶎⱬ',
  aa: 'ꜳ',
  ae: 'æᴁ',
  ao: 'ꜵ',
  au: 'ꜷ',
  av: 'ꜹꜻ',
  ay: 'ꜽ',
  db: 'ȸ',
  dz: 'ʣʥ',
  hv: 'ƕ',
  ll: 'ỻ',
  ls: 'ʪ',
  lz: 'ʫ',
  oe: 'œɶ',
  oi: 'ƣ',
  oo: 'ꝏ',
  qp: 'ȹ',
  th: 'þᵺꝥꝧ',
  ts: 'ƾʦ',
  tz: 'ꜩ',
  ue: 'ᵫ',
  vy: 'ꝡ',
}
const plainLetters: ReadonlyMap<string, string> = new Map(
  Object.entries(foldings).flatMap(([plain, letters]) =>
    Array.from(letters, (letter): [string, string] => [letter, plain]),
  ),
)
