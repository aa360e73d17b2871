import { expect, it } from 'vitest'
import { resolveValue } from '../../../lib/local/assembly/resolve-value.js'

const references = {
  ref: (name: string) => `<${name}>`,
  attribute: (logicalId: string, attribute: string) => `<${logicalId}.${attribute}>`,
  imported: (name: string) => `<import ${name}>`,
}

const placeholder = (name: string) => `$\{${name}}`

it.each([
  [{ Ref: 'Orders' }, '<Orders>'],
  [{ 'Fn::GetAtt': ['Orders', 'Arn'] }, '<Orders.Arn>'],
  [{ 'Fn::GetAtt': 'Orders.Endpoint.Port' }, '<Orders.Endpoint.Port>'],
  [{ 'Fn::Join': ['-', ['a', { Ref: 'B' }, { 'Fn::GetAtt': ['C', 'Arn'] }]] }, 'a-<B>-<C.Arn>'],
  [{ 'Fn::Sub': `arn:${placeholder('AWS::Region')}:${placeholder('A.Arn')}` }, 'arn:<AWS::Region>:<A.Arn>'],
  [{ 'Fn::Sub': [`${placeholder('x')}/${placeholder('B')}`, { x: { Ref: 'A' } }] }, '<A>/<B>'],
  [{ 'Fn::Sub': placeholder('!Literal') }, placeholder('Literal')],
  [{ 'Fn::Select': [1, ['a', { Ref: 'B' }]] }, '<B>'],
  [{ 'Fn::Select': ['0', { 'Fn::Split': [':', 'x:y'] }] }, 'x'],
  [{ 'Fn::ImportValue': { 'Fn::Sub': 'Stack:Out' } }, '<import Stack:Out>'],
  [
    { list: [{ Ref: 'A' }, 1, null, true], deep: { Ref: 'not alone', other: 1 } },
    { list: ['<A>', 1, null, true], deep: { Ref: 'not alone', other: 1 } },
  ],
  ['plain', 'plain'],
])('%j is %j', (value, resolved) => {
  expect(resolveValue(value, references)).toEqual(resolved)
})

it.each(['Fn::If', 'Fn::Base64', 'Fn::Transform'])('%s is refused by name', (name) => {
  expect(() => resolveValue({ deep: [{ [name]: 'x' }] }, references)).toThrow(new RegExp(`can't resolve ${name}`))
})

it('a malformed function is refused', () => {
  expect(() => resolveValue({ 'Fn::Join': ['-'] }, references)).toThrow(/can't resolve Fn::Join/)
  expect(() => resolveValue({ 'Fn::Join': ['-', 'text'] }, references)).toThrow(/can't resolve Fn::Join/)
})
