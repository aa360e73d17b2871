import { describe, expect, it } from 'vitest'
import { type Command, CommandError } from '../../lib/operations/command.js'
import { commands } from '../../lib/operations/commands.js'
import { runCommandLine } from '../../lib/operations/run-command-line.js'

/** A command that answers what it was given, or throws. */
const echo: Command<'stack', 'region'> = {
  about: 'Answers what it was given.',
  required: { stack: { placeholder: 'NAME', summary: 'a stack' } },
  optional: { region: { placeholder: 'REGION', summary: 'a region' } },
  run: async (values, { print }) => {
    if (values.stack === 'missing') throw new CommandError('there is no stack missing', 'Check the name.')
    if (values.stack === 'locked') throw new Error('Could not load credentials from any providers: Credentials')
    print(JSON.stringify(values))
    return values.stack === 'late' ? 1 : 0
  },
}

const runLine = async (...words: string[]) => {
  const said: string[] = []
  const complained: string[] = []
  const terminal = { print: (line: string) => said.push(line), complain: (line: string) => complained.push(line) }
  const code = await runCommandLine(words, terminal, { echo: { summary: 'answers', load: async () => echo } })
  return { code, said: said.join('\n'), complained: complained.join('\n') }
}

describe('the command line', () => {
  it('tells its commands, without a command and when asked', async () => {
    const help = await runLine('--help')
    expect(help).toEqual({ code: 0, said: expect.stringContaining('echo   answers'), complained: '' })
    expect(await runLine()).toEqual(help)
    expect(await runLine('-h')).toEqual(help)
  })

  it('tells the options of a command, also beside others', async () => {
    const { code, said } = await runLine('echo', '--stack', 'Shop', '--help')
    expect(code).toBe(0)
    expect(said.split('\n')).toEqual([
      'Usage: postdate echo --stack NAME [--region REGION]',
      '',
      'Answers what it was given.',
      '',
      '  --stack NAME      a stack',
      '  --region REGION   a region',
    ])
  })

  it('hands options to the command, in both forms, and answers its exit code', async () => {
    expect(await runLine('echo', '--stack', 'Shop', '--region=eu-west-1')).toEqual({
      code: 0,
      said: '{"stack":"Shop","region":"eu-west-1"}',
      complained: '',
    })
    expect((await runLine('echo', '--stack', 'late')).code).toBe(1)
  })

  it.each([
    [['eco'], 'postdate: there is no command eco; did you mean echo? postdate --help tells the commands.'],
    [['toString'], 'postdate: there is no command toString. postdate --help tells the commands.'],
    [['echo'], 'postdate: --stack is missing. postdate echo --help tells the options.'],
    [['echo', '--stack'], 'postdate: --stack has no value. postdate echo --help tells the options.'],
    [['echo', '--stack='], 'postdate: --stack has no value. postdate echo --help tells the options.'],
    [
      ['echo', '--stak', 'Shop'],
      'postdate: there is no option --stak; did you mean --stack? postdate echo --help tells the options.',
    ],
    [['echo', 'Shop'], 'postdate: Shop is no option. postdate echo --help tells the options.'],
  ])('refuses %j with exit code 2, and says what would be right', async (words, complaint) => {
    expect(await runLine(...words)).toEqual({ code: 2, said: '', complained: complaint })
  })

  it('prints what a command throws in one line, with what to do', async () => {
    expect(await runLine('echo', '--stack', 'missing')).toEqual({
      code: 1,
      said: '',
      complained: 'postdate: there is no stack missing. Check the name.',
    })
    const { code, complained } = await runLine('echo', '--stack', 'locked')
    expect(code).toBe(1)
    expect(complained).toBe(
      'postdate echo: Could not load credentials from any providers: Credentials. Log in, or name a profile in AWS_PROFILE.',
    )
  })
})

it.each(Object.entries(commands))('%s loads, and tells what it does', async (_, { summary, load }) => {
  const { about, required } = await load()
  expect(summary).not.toBe('')
  expect(about.split('\n').every((line) => line.length <= 130)).toBe(true)
  expect(Object.keys(required)).toContain('stack')
})
