// SPDX-License-Identifier: Apache-2.0
// A subject of symbolizer.py: standard containers and templates, for deep inline chains.
#include <algorithm>
#include <iostream>
#include <map>
#include <unordered_map>
#include <regex>
#include <string>
#include <vector>
#include <sstream>
#include <thread>
#include <future>
#include <random>
#include <filesystem>
#include <memory>
#include <functional>
#include <variant>
template <int N> struct W {
	static long f(std::map<std::string, std::vector<long>> &m, int k)
	{
		auto &v = m["k" + std::to_string(N + k)];
		v.push_back(N);
		std::sort(v.begin(), v.end(), [](long a, long b) { return a > b; });
		std::unordered_map<long, std::string> u;
		for (auto x : v)
			u[x] = std::to_string(x) + "z";
		std::stringstream s;
		for (auto &p : u)
			s << p.first << p.second;
		return s.str().size() + W<N - 1>::f(m, k);
	}
};
template <> struct W<0> {
	static long f(std::map<std::string, std::vector<long>> &, int)
	{
		return 0;
	}
};
int main(int argc, char **argv)
{
	std::map<std::string, std::vector<long>> m;
	long t = 0;
	for (int i = 0; i < argc * 3; i++)
		t += W<60>::f(m, i);
	std::regex r("a(b|c)*d+[0-9]{2,3}");
	std::smatch sm;
	std::string s = "xxabcbd12";
	if (std::regex_search(s, sm, r))
		t++;
	auto f = std::async([&] {
		std::mt19937 g;
		std::shuffle(s.begin(), s.end(), g);
		return s;
	});
	std::cout << t << f.get() << std::filesystem::current_path() << "\n";
}
